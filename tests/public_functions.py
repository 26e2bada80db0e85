"""Every public function of torsor, for tests that walk over all of them."""

import inspect
from operator import attrgetter

import torsor
from torsor._lazy import everywhere


def is_ours(x) -> bool:
    return (getattr(x, "__module__", None) or "").startswith("torsor.")


def functions() -> dict:
    """Every public function by the shortest place where users find it: with the methods of classes."""
    found = {place: attrgetter(place.removeprefix("torsor."))(torsor) for place, *_ in everywhere().values()}
    for module in [x for x in found.values() if inspect.ismodule(x)]:
        inner = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
        known = {id(x) for x in found.values()}
        found |= {f"{module.__name__}.{name}": x for name, x in inner.items() if is_ours(x) and id(x) not in known}
    for place, kind in list(found.items()):
        if inspect.isclass(kind) and not issubclass(kind, (Exception, tuple)):
            methods = {name: getattr(kind, name) for name in vars(kind) if not name.startswith("_")}
            found |= {f"{place}.{name}": x for name, x in methods.items() if inspect.isfunction(x)}
    return {place: x for place, x in found.items() if callable(x) and not inspect.isclass(x)}
