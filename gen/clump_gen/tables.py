"""Lists of all functions: what has a body (`clump info --missing` and --coverage), and what libmpi_abi.so.1 exports."""

from typing import Dict, Iterator

from .overlay import Entry
from .standard import Function


def write_functions(functions: Dict[str, Function], entries: Dict[str, Entry]) -> str:
    text = ["// Every function of the ABI: {name, chapter of gen/overlay/chapters, whether it has a body}. To be included in an array.\n"]
    for name, function in functions.items():
        entry = entries[name]
        for form in function.forms:
            text.append(f'{{"{form.name}", "{entry.chapter}", {"true" if entry.has_body else "false"}}},\n')
    return "".join(text)


def write_calls(functions: Dict[str, Function], entries: Dict[str, Entry]) -> str:
    text = ["// Every function, by the number that records know it by: {name without suffix, chapter}. To be included in an array.\n"]
    text.extend(f'{{"{name}", "{entries[name].chapter}"}},\n' for name in functions)
    return "".join(text)


def write_chapters(titles: Dict[str, str]) -> str:
    text = ["// The chapters of gen/overlay/chapters: {name, title}. To be included in an array.\n"]
    text.extend(f'{{"{chapter}", "{title}"}},\n' for chapter, title in titles.items())
    return "".join(text)


def symbols(functions: Dict[str, Function]) -> Iterator[str]:
    for function in functions.values():
        for form in function.forms:
            yield form.name
            yield "P" + form.name


def write_exports(functions: Dict[str, Function]) -> str:
    """A version script without version names: programs built with other libraries ask for none."""
    names = "".join(f"    {symbol};\n" for symbol in sorted(symbols(functions)))
    return f"{{\n  global:\n{names}  local:\n    *;\n}};\n"
