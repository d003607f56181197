#!/usr/bin/python3
"""A source for a real drag: a small window in the corner that gives out one file or folder, named by the argument.

Says `ready` once it can be dragged from, and ends when the drag has ended.
"""
import pathlib
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

address = pathlib.Path(sys.argv[1]).as_uri()
window = Gtk.Window(type=Gtk.WindowType.POPUP)
window.set_default_size(60, 40)
window.move(0, 0)
window.add(Gtk.Label(label="drag"))
window.drag_source_set(
    Gdk.ModifierType.BUTTON1_MASK, [Gtk.TargetEntry.new("text/uri-list", 0, 0)], Gdk.DragAction.COPY
)
window.connect("drag-data-get", lambda _window, _drag, data, _info, _time: data.set_uris([address]))
window.connect("drag-end", lambda *_: GLib.timeout_add(200, Gtk.main_quit))
window.show_all()
GLib.idle_add(lambda: print("ready", flush=True))
Gtk.main()
