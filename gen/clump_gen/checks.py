"""The statements of an entry point that check its arguments and find the objects behind its handles."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import kinds
from .bodies import is_optional_info, local
from .overlay import Entry
from .standard import Function, Parameter


@dataclass
class Message:
    """Parameters that together describe data: one or two buffers, a count or an array of them, a datatype or an array of them."""

    buffers: List[Parameter] = field(default_factory=list)
    count: Optional[Parameter] = None
    displacements: Optional[Parameter] = None
    type: Optional[Parameter] = None


def messages(function: Function) -> List[Message]:
    found, current = [], Message()
    for p in function.widest.parameters:
        if p.kind == "BUFFER":
            current.buffers.append(p)
        elif p.kind in kinds.PACKED_SIZES:
            current = Message()
        elif not current.buffers:
            continue
        elif p.kind in kinds.MESSAGE_COUNTS:
            current.count = p
        elif p.kind in kinds.MESSAGE_DISPLACEMENTS and p.is_array:
            current.displacements = p
        elif p.kind == "DATATYPE" and p.direction == "in":
            current.type = p
            if current.count is not None:  # else one element, whose buffers the body looks at
                found.append(current)
            current = Message()
    return found


def _named(p: Parameter, value: Optional[str] = None) -> str:
    return f'{{"{p.name}", {value or p.name}}}'


def _try(expression: str) -> str:
    return f"CLUMP_TRY(check::{expression});"


class Writer:
    """Writes the checks of one function: `declarations` go before the lambda of the entry point, `statements` into it."""

    def __init__(self, function: Function, entry: Entry) -> None:
        self.function, self.entry = function, entry
        self.parameters: Dict[str, Parameter] = {p.name: p for p in function.widest.parameters}
        self.communicator = next((p for p in self.parameters.values() if p.kind == "COMMUNICATOR" and self._is_object(p)), None)
        self.window = next((p for p in self.parameters.values() if p.kind == "WINDOW" and self._is_object(p)), None)
        self.root = self.parameters.get("root") if self.communicator else None
        self.messages = messages(function)
        self.declarations: List[str] = []
        self.statements: List[str] = []
        self._in_messages = {
            p.name for m in self.messages for p in (*m.buffers, m.count, m.displacements, m.type) if p is not None
        }

    def write(self) -> "Writer":
        if "tool" in self.entry.flags:
            return self  # its errors are of its own kind (MPI-5.0 section 15.3.10): the body looks for them
        for p in self.parameters.values():
            if self.entry.about("errors", p.name):
                self._new_errhandler(p)
        for p in (self.communicator, self.window):  # whose error handler is told of what is wrong with the rest
            if p:
                self._handle(p)
        if self._exchanges_with_neighbours:
            self._say(_try(f"topology({_named(self.communicator)}, {self._comm})"))
        if self.root:
            self._say(_try(f"root({_named(self.root)}, {self._comm})"))
            self._say(f"[[maybe_unused]] const Roles roles(root, {self._comm});")
        for p in self.parameters.values():
            if p not in (self.communicator, self.window) and p.name not in self._in_messages and not self.entry.about("errors", p.name):
                self._parameter(p)
        for message in self.messages:
            self._message(message)
        self._apart()
        return self

    def _say(self, statement: str) -> None:
        self.statements.append(statement)

    def _is_object(self, p: Parameter) -> bool:
        return kinds.is_object(p) and not self.entry.about("unchecked", p.name)

    @property
    def _exchanges_with_neighbours(self) -> bool:
        return self.entry.chapter == "topologies" and "eighbor_" in self.function.name

    @property
    def _comm(self) -> str:
        return f"*{local(self.communicator)}"

    # One parameter by itself.

    def _parameter(self, p: Parameter) -> None:
        if p.kind == "OPERATION" and self.root:
            self._operation_of_root(p)
        elif self._is_object(p):
            self._handle(p)
        elif p.kind in ("RANK", "RANK_NNI") and p.is_scalar:
            self._rank(p)
        elif p.kind == "TAG" and p.is_scalar and not self.entry.about("unchecked", p.name):
            wildcard = self.parameters.get("source") and p.name != "sendtag" and "dest" not in self.parameters or p.name == "recvtag"
            wildcard = wildcard and self.entry.chapter != "partitioned"
            self._say(_try(f"{'receive_tag' if wildcard else 'send_tag'}({_named(p)})"))
        elif p.is_array or p.pointers or "FUNCTION" in p.kind:
            self._address(p)
        elif p.kind in kinds.NOT_NEGATIVE and p.name not in kinds.MAY_BE_NEGATIVE and not self.entry.about("unchecked", p.name):
            error_class = "MPI_ERR_COUNT" if "count" in p.name else kinds.NOT_NEGATIVE[p.kind]
            self._say(_try(f"not_negative({_named(p)}, {error_class})"))

    def _handle(self, p: Parameter) -> None:
        handle = kinds.HANDLES[p.kind]
        check = "info_or_null" if is_optional_info(self.function, p) else handle.check
        self.declarations.append(f"{handle.object}* {local(p)} = nullptr;")
        self._say(_try(f"{check}(call, {_named(p)}, {local(p)})"))
        if self.entry.about("intra", p.name):
            self._say(_try(f"intra({_named(p)}, *{local(p)})"))

    def _operation_of_root(self, p: Parameter) -> None:
        """Of MPI_Reduce: in the root's group of an intercommunicator it means something at the root only."""
        self.declarations.append(f"core::Op* {local(p)} = nullptr;")
        self._say(f"if (roles.takes_part) {_try(f'op(call, {_named(p)}, {local(p)})')}")
        self._say(f"else {local(p)} = check::no_op(call);")

    def _new_errhandler(self, p: Parameter) -> None:
        kind = "kSession" if self.function.name.startswith("MPI_Session_") else "kComm"
        self.declarations.append(f"core::Errhandler* {local(p)} = nullptr;")
        self._say(_try(f"new_errhandler(call, {_named(p)}, core::Errhandler::Action::{kind}, {local(p)})"))

    def _rank(self, p: Parameter) -> None:
        if not self.communicator or p.name == "root":
            return
        wildcard = p.name == "source" and self.entry.chapter != "partitioned"
        if p.name in ("dest", "source"):
            self._say(_try(f"{'source' if wildcard else 'destination'}({_named(p)}, {self._comm})"))
        elif p.name in ("rank", "local_leader"):
            self._say(_try(f"member({_named(p)}, {self._comm})"))

    def _address(self, p: Parameter) -> None:
        if kinds.may_be_null(p) or self.function.name.startswith("MPI_T_"):
            return
        if self.entry.about("unchecked", p.name):
            return
        if p.kind == "POLYFUNCTION":
            small, large = (f"reinterpret_cast<const void*>({name})" for name in (p.name, p.name + "_c"))
            self._say(_try(f'pointer({{"{p.name}", {p.name} != nullptr ? {small} : {large}}})'))
            return
        if "FUNCTION" in p.kind:
            self._say(_try(f"pointer({_named(p, f'reinterpret_cast<const void*>({p.name})')})"))
            return
        if p.is_array and p.kind != "STRING":
            self._array(p)
            return
        value = f"{p.name}.data()" if kinds.is_wide_output(p) else p.name
        self._say(_try(f"pointer({_named(p, value)}, {kinds.null_class(p)})"))
        if p.kind in kinds.HANDLES and p.direction == "inout" and p.kind != "INFO":
            self._handle_to_free(p)

    def _handle_to_free(self, p: Parameter) -> None:
        handle = kinds.HANDLES[p.kind]
        self.declarations.append(f"{handle.object}* {local(p)} = nullptr;")
        self._say(_try(f"{handle.check}(call, {_named(p, '*' + p.name)}, {local(p)})"))

    def _array(self, p: Parameter) -> None:
        length = p.length[0] if isinstance(p.length, list) else p.length
        length = kinds.LENGTHS.get((self.function.name, p.name), length)
        if length not in self.parameters or not self.parameters[length].is_scalar:
            return  # as long as something that only the body knows
        if kinds.is_wide_array(p) and p.kind.endswith("_NNI"):
            self._say(_try(f"not_negative({_named(p)}, {length})"))
        else:
            value = f"{p.name}.data()" if kinds.is_wide_array(p) else p.name
            self._say(_try(f"array({_named(p, value)}, {length})"))

    # The parameters of a message.

    def _message(self, m: Message) -> None:
        in_place = self._in_place(m)
        significant = self._significance(m, in_place)
        checks = self._count_and_type(m)
        for b in m.buffers:
            checks.extend(self._buffer(m, b, b is in_place))
        if not significant:
            self.statements.extend(checks)
            return
        self._say(f"if ({significant}) {{")
        self.statements.extend("  " + check for check in checks)
        self._say("} else {")
        self.statements.extend("  " + s for s in self._insignificant(m))
        self._say("}")

    @property
    def _in_place_name(self) -> str:
        """The buffer that may be MPI_IN_PLACE, in a collective on an intracommunicator (MPI-5.0 section 6.2)."""
        if self.entry.chapter != "collectives" or not self.communicator or "recvbuf" not in self.parameters:
            return ""
        return "recvbuf" if self.parameters["sendbuf"].root_only else "sendbuf"  # the first is scatter

    def _in_place(self, m: Message) -> Optional[Parameter]:
        buffer = next((b for b in m.buffers if b.name == self._in_place_name), None)
        if buffer:
            is_intra = self.entry.about("intra", self.communicator.name)  # which was checked
            allowed = "true" if is_intra else f"!{local(self.communicator)}->is_inter()" + (" && roles.at_root" if self.root else "")
            self._say(f"bool {buffer.name}_in_place = false;")
            contributes = "if (roles.contributes) " if self.root else ""  # else the buffer may be anything
            self._say(contributes + _try(f"in_place({_named(buffer)}, {allowed}, {buffer.name}_in_place)"))
        return buffer

    def _significance(self, m: Message, in_place: Optional[Parameter]) -> str:
        """When the count and the type mean something in this process; empty: always."""
        terms = []
        if self.root:
            if all(b.root_only for b in m.buffers):
                terms.append("roles.at_root")
            elif len(m.buffers) > 1 or m.buffers[0].name not in ("sendbuf", "recvbuf"):
                terms.append("roles.takes_part")
            else:
                terms.append("roles.contributes")
        if "et_accumulate" in self.function.name and m.buffers[0].name == "origin_addr":
            terms.append("op != MPI_NO_OP")  # which reads no operand (MPI-5.0 section 12.3.4)
        if in_place and len(m.buffers) == 1:
            terms.append(f"!{in_place.name}_in_place")
        return " && ".join(terms)

    def _blocks(self, m: Message) -> str:
        """How many blocks an array of counts describes."""
        if self._exchanges_with_neighbours:
            side = "destinations" if m.buffers[0].name == "sendbuf" else "sources"
            return f"{local(self.communicator)}->topology->{side}().blocks"
        if self.entry.chapter != "collectives" or not self.communicator:
            return "0"
        return f"{local(self.communicator)}->" + ("size()" if "educe_scatter" in self.function.name else "peers().size()")

    def _count_and_type(self, m: Message) -> List[str]:
        checks = []
        if m.type.is_array:
            checks.append(_try(f"types(call, {_named(m.type)}, {self._blocks(m)})"))
        else:
            self.declarations.append(f"const datatype::Datatype* {local(m.type)} = nullptr;")
            checks.append(_try(f"committed(call, {_named(m.type)}, {local(m.type)})"))
        if m.count is not None:
            if m.count.is_array:
                checks.append(_try(f"not_negative({_named(m.count)}, {self._blocks(m)})"))
                if m.displacements is not None:
                    checks.append(_try(f"displacements({_named(m.displacements)}, {_named(m.count)}, {self._blocks(m)})"))
            else:
                checks.append(_try(f"not_negative({_named(m.count)}, MPI_ERR_COUNT)"))
        return checks

    def _buffer(self, m: Message, b: Parameter, in_place: bool) -> List[str]:
        if m.count is not None and m.count.is_array and len(m.buffers) > 1 and b.name == "recvbuf":  # one block of all that are sent
            check = _try(f"buffer({_named(b)}, {m.count.name}[{local(self.communicator)}->rank], *{local(m.type)})")
        elif m.count is not None and m.count.is_array:
            check = _try(f"buffer({_named(b)}, {self._described(m)})")
        else:
            check = _try(f"buffer({_named(b)}, {m.count.name}, *{local(m.type)})")
        if len(m.buffers) == 1:
            return [check]
        terms = [f"!{b.name}_in_place"] if in_place else []
        if self.root:
            terms.append("roles.at_root" if b.root_only else "roles.contributes")
        if "xscan" in self.function.name and b.name == "recvbuf":  # means nothing at rank 0, unless the operand is there
            terms.append(f"({local(self.communicator)}->rank != 0 || sendbuf_in_place)")
        return [f"if ({' && '.join(terms)}) {check}" if terms else check]

    def _described(self, m: Message) -> str:
        """The blocks of a message, as check::Blocks."""
        types = f".types = {m.type.name}, .rank = call.self" if m.type.is_array else f".type = {local(m.type)}"
        displacements = f", .displacements = {m.displacements.name}" if m.displacements is not None else ""
        return f"check::Blocks{{.counts = {_named(m.count)}{displacements}, .number = {self._blocks(m)}, {types}}}"

    def _insignificant(self, m: Message) -> List[str]:
        values = []
        if not m.type.is_array:
            values.append(f"{local(m.type)} = check::no_type();")
        if m.count is not None:
            values.append(f"{m.count.name} = {'Counts()' if m.count.is_array else '0'};")
        if m.displacements is not None and kinds.is_wide_array(m.displacements):
            values.append(f"{m.displacements.name} = Counts();")
        if self.root and len(m.buffers) == 1:  # what is no buffer of this rank may have the value of MPI_IN_PLACE
            name = m.buffers[0].name
            values.append(f"if (!{name}_in_place) {name} = nullptr;" if name == self._in_place_name else f"{name} = nullptr;")
        return values

    # Two messages.

    def _apart(self) -> None:
        """Data and result of a collective must not overlap (MPI-5.0 section 6.2). Seen are those that begin at the same address and are
        of the same type; where blocks have displacements, or types of their own, they may be apart all the same."""
        if self.entry.chapter != "collectives" or any(m.displacements or m.type.is_array for m in self.messages):
            return
        described = {b.name: (b, m) for m in self.messages for b in m.buffers}
        if len(described) < 2:
            return
        buffers = [b for b, _ in described.values()]
        same = [f"{buffers[0].name} == {buffers[1].name}"]
        if self.root:
            same.append("roles.at_root && roles.contributes")
        if "xscan" in self.function.name:
            same.append(f"{local(self.communicator)}->rank != 0")  # its recvbuf means nothing
        data = ", ".join(_named(b, self._data(b, m)) for b, m in described.values())
        in_place = f'"{self._in_place_name}"' if self._in_place_name else "nullptr"
        self._say(f"if ({' && '.join(same)}) [[unlikely]] {_try(f'apart({data}, {in_place})')}")

    def _data(self, b: Parameter, m: Message) -> str:
        count = f"{m.count.name}[{local(self.communicator)}->rank]" if m.count.is_array else m.count.name
        return f"{{{b.name}, {count}, {local(m.type)}}}"
