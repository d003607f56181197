#!/usr/bin/python3
"""A file manager for a test's session bus. First line: `ready`. Then one JSON line for every call that comes in."""
import json

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.freedesktop.FileManager1"
XML = f"""<node><interface name="{NAME}">
  <method name="ShowItems"><arg type="as" direction="in"/><arg type="s" direction="in"/></method>
  <method name="ShowFolders"><arg type="as" direction="in"/><arg type="s" direction="in"/></method>
</interface></node>"""


def tell(what):
    print(json.dumps(what), flush=True)


def called(_bus, _sender, path, _interface, method, values, invocation):
    addresses, startup = values.unpack()
    invocation.return_value(None)
    tell({"at": path, "method": method, "addresses": addresses, "startup": startup})


def reached(bus, _name):
    node = Gio.DBusNodeInfo.new_for_xml(XML)
    bus.register_object("/org/freedesktop/FileManager1", node.interfaces[0], called)


Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, reached, lambda *_: tell("ready"))
GLib.MainLoop().run()
