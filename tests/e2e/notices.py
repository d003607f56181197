#!/usr/bin/python3
"""A notification service for a test's session bus, and another program's window beside ours.

First line: the X id of that window. Then one JSON line for every call that comes in: `{"shown": ID, ...}` or
`{"closed": ID}`. Reading `click ID` it reports a click on that notification, as a person would make.
"""
import json
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("GdkX11", "3.0")
from gi.repository import GdkX11, Gio, GLib, Gtk  # noqa: E402, F401

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
XML = f"""<node><interface name="{NAME}">
  <method name="Notify">
    <arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
    <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
    <arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/>
  </method>
  <method name="CloseNotification"><arg type="u" direction="in"/></method>
  <method name="GetCapabilities"><arg type="as" direction="out"/></method>
  <method name="GetServerInformation">
    <arg type="s" direction="out"/><arg type="s" direction="out"/><arg type="s" direction="out"/><arg type="s" direction="out"/>
  </method>
  <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
  <signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
</interface></node>"""
last = 0


def tell(what):
    print(json.dumps(what), flush=True)


def called(bus, _sender, _path, _interface, method, values, invocation):
    global last
    if method == "Notify":
        app, replaces, _icon, title, body, actions, _hints, _timeout = values.unpack()
        if not replaces:
            last += 1
        number = replaces or last
        invocation.return_value(GLib.Variant("(u)", (number,)))
        tell({"shown": number, "app": app, "title": title, "body": body, "actions": actions})
    elif method == "CloseNotification":
        (number,) = values.unpack()
        invocation.return_value(None)
        bus.emit_signal(None, PATH, NAME, "NotificationClosed", GLib.Variant("(uu)", (number, 3)))
        tell({"closed": number})
    elif method == "GetCapabilities":
        invocation.return_value(GLib.Variant("(as)", (["actions", "body"],)))
    else:
        invocation.return_value(GLib.Variant("(ssss)", ("stub", "test", "1", "1.2")))


def told(channel, _condition):
    line = channel.readline()
    if not line:
        Gtk.main_quit()
        return False
    number = int(line.split()[1])
    bus.emit_signal(None, PATH, NAME, "ActionInvoked", GLib.Variant("(us)", (number, "default")))
    bus.emit_signal(None, PATH, NAME, "NotificationClosed", GLib.Variant("(uu)", (number, 2)))
    return True


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
interface = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
bus.register_object(PATH, interface, called, None, None)
answer = bus.call_sync(
    "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
    GLib.Variant("(su)", (NAME, 4)), None, Gio.DBusCallFlags.NONE, -1, None,
)
assert answer.unpack() == (1,), "another service has the name"
window = Gtk.Window(title="Another program")
window.set_default_size(200, 100)
window.show_all()
window.realize()
print(window.get_window().get_xid(), flush=True)
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, told)
Gtk.main()
