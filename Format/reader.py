#!/usr/bin/env python3
"""An independent reader of Cairn stores, written from the text in this folder alone.

    python3 Format/reader.py STORE             the content as canonical JSON lines (chapter 80)
    python3 Format/reader.py --frames STORE    the frames: segment, offset, kind, length, commit

Exit codes: 0 fine; 1 not a store, or of a version or feature that this reader lacks; 2 usage; 3 damaged.
It needs Python 3.9 or later and nothing else. Rule ids stand beside the checks that they are about.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from dataclasses import dataclass, field
from datetime import date as calendar_date
from typing import BinaryIO, Dict, Iterator, List, Optional, Tuple

HEADER = 4096
FRAME = 56
LIMIT = 16 << 20
START, SCHEMA, BLOCK, DEATHS, VALUE, COMMIT, CLOSE = 1, 2, 3, 5, 6, 12, 13
DEFINED = {START, SCHEMA, BLOCK, DEATHS, VALUE, COMMIT, CLOSE}
NAMES = {
    1: "start", 2: "schema", 3: "block", 4: "patch", 5: "deaths", 6: "value", 7: "changes",
    8: "reserve", 9: "adopt", 10: "retire", 11: "metadata", 12: "commit", 13: "close",
}
NUMBER, VERSION = 0xFFFFFFFE, 0xFFFFFFFF
I64_MIN, I64_MAX = -(1 << 63), (1 << 63) - 1
COLUMNS = {"integer": 1, "double": 2, "float": 3, "bytes": 4, "fixed16": 5}
KIND_COLUMN = {
    "integer16": 1, "integer32": 1, "integer64": 1, "boolean": 1, "reference": 1, "order": 1,
    "double": 2, "date": 2, "float": 3, "string": 4, "uri": 4, "binary": 4, "transformable": 4,
    "decimal": 4, "uuid": 5,
}
RANGES = {
    "integer16": (-(1 << 15), (1 << 15) - 1), "integer32": (-(1 << 31), (1 << 31) - 1),
    "boolean": (0, 1), "reference": (1, 0xFFFFFFFE),
}


class Damaged(Exception):
    """A rule is broken at a place (10.4)."""

    def __init__(self, segment: int, offset: int, rule: str):
        super().__init__(f"damaged: segment {segment}, offset {offset}, rule {rule}")


class Refused(Exception):
    """Not a store, unfinished, or of a version or feature that this reader lacks."""


class Broken(Exception):
    """A rule is broken inside some bytes; whoever knows the place makes it `Damaged`."""

    def __init__(self, rule: str):
        super().__init__(rule)
        self.rule = rule


# --- Checksums (F-102) ------------------------------------------------------------------------------


def _tables() -> List[List[int]]:
    first = []
    for index in range(256):
        value = index
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        first.append(value)
    tables = [first]
    for _ in range(7):
        last = tables[-1]
        tables.append([first[v & 255] ^ v >> 8 for v in last])
    return tables


_T = _tables()


def crc32c(data: bytes, crc: int = 0) -> int:
    """The CRC-32C of bytes, continuing from `crc`; eight bytes a step."""
    crc ^= 0xFFFFFFFF
    t0, t1, t2, t3, t4, t5, t6, t7 = _T
    whole = len(data) & ~7
    for low, high in struct.iter_unpack("<II", data[:whole]):
        low ^= crc
        crc = (
            t7[low & 255] ^ t6[low >> 8 & 255] ^ t5[low >> 16 & 255] ^ t4[low >> 24]
            ^ t3[high & 255] ^ t2[high >> 8 & 255] ^ t1[high >> 16 & 255] ^ t0[high >> 24]
        )
    for byte in data[whole:]:
        crc = t0[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def lz4(source: bytes, size: int) -> bytes:
    """One LZ4 block (F-411)."""
    out = bytearray()
    at, end = 0, len(source)
    while True:
        if at >= end:
            raise Broken("F-411")
        token = source[at]
        at += 1
        length = token >> 4
        if length == 15:
            while True:
                if at >= end:
                    raise Broken("F-411")
                more = source[at]
                at += 1
                length += more
                if more != 255:
                    break
        if at + length > end or len(out) + length > size:
            raise Broken("F-411")
        out += source[at:at + length]
        at += length
        if at == end:
            break
        if at + 2 > end:
            raise Broken("F-411")
        distance = source[at] | source[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if token & 15 == 15:
            while True:
                if at >= end:
                    raise Broken("F-411")
                more = source[at]
                at += 1
                length += more
                if more != 255:
                    break
        if distance == 0 or distance > len(out) or len(out) + length > size:
            raise Broken("F-411")
        if distance >= length:
            start = len(out) - distance
            out += out[start:start + length]
        else:
            piece = bytes(out[-distance:])
            out += (piece * (length // distance + 1))[:length]
    if len(out) != size:
        raise Broken("F-411")
    return bytes(out)


# --- Segments (20) ----------------------------------------------------------------------------------


@dataclass
class Segment:
    number: int
    predecessor: int
    base: int
    end_before: int
    chain_before: int
    commit: int
    store: bytes
    checksum: int
    path: str
    size: int
    live: List[Tuple[int, int, int, int]] = field(default_factory=list)
    schema: Tuple[int, int] = (0, 0)
    schema_version: int = 0
    counters: Dict[int, int] = field(default_factory=dict)

    @property
    def tag(self) -> int:
        return crc32c(self.store)


@dataclass
class Frame:
    kind: int
    flags: int
    version: int
    length: int
    payload_crc: int
    commit: int
    lsn: int
    mark: int
    predecessor: int
    tag: int
    segment: int
    chain: int
    offset: int = 0
    zero: int = 0

    @property
    def padded(self) -> int:
        return self.length + 7 & ~7


def segment_number(name: str) -> Optional[int]:
    """The number in a file's name (F-201)."""
    if len(name) != 18 or not name.endswith(".segment"):
        return None
    digits = name[:10]
    if not all("0" <= c <= "9" for c in digits) or digits == "0000000000":
        return None
    return int(digits)


def parse_frame(data: bytes) -> Optional[Frame]:
    """A header if the bytes are one (F-302)."""
    if len(data) < FRAME or data[:4] != b"CFRM":
        return None
    kind, flags, version, zero, length, payload, commit, lsn, mark, before, tag, segment, crc = (
        struct.unpack("<BBBBIIQQQIIII", data[4:FRAME])
    )
    if crc32c(data[:52]) != crc:
        return None
    return Frame(kind, flags, version, length, payload, commit, lsn, mark, before, tag, segment, crc,
                 zero=zero)


def read_header(path: str, number: int) -> Tuple[Optional[Segment], Optional[str]]:
    """A segment's header and the rule that it breaks; no segment if the header is not valid."""
    with open(path, "rb") as file:
        data = file.read(HEADER)
        size = os.fstat(file.fileno()).st_size
    if len(data) < HEADER or data[:8] != b"CAIRNSEG":
        return None, "F-203"
    (checksum,) = struct.unpack("<I", data[4092:])
    if crc32c(data[:4092]) != checksum:
        return None, "F-203"
    version, kind = struct.unpack("<II", data[8:16])
    own, before, base, end, chain, zero, _, _, incompatible, _, commit = struct.unpack(
        "<IIQQIIQQQdQ", data[32:104])
    segment = Segment(own, before, base, end, chain, commit, data[16:32], checksum, path, size)
    if version != 0:
        return segment, "F-205"
    if incompatible != 0:
        return segment, "F-208"
    if zero or any(data[104:4092]):
        return segment, "F-103"
    if own != number:
        return segment, "F-204"
    if kind not in (1, 2):
        return segment, "F-209"
    if kind == 2 or before == 0:
        if before or base or end or chain:
            return segment, "F-212"
    elif not (before < own and end % 8 == 0 and end >= HEADER and base % 8 == 0 and end <= base
              and base < 1 << 62):
        return segment, "F-212"
    if kind == 2:
        return segment, "side"
    return segment, None


def failure(frame: Optional[Frame], segment: Segment, lsn: int, chain: int, mark: int,
            end: int) -> Optional[str]:
    """The first rule that a frame's header breaks, in the order of 60.4, step 6."""
    if frame is None:
        return "F-302"
    if frame.length > LIMIT:
        return "F-303"
    if frame.kind == 0:
        return "F-310"
    if frame.flags & 0x7F or frame.zero:
        return "F-313"
    if frame.mark > frame.lsn:
        return "F-309"
    if frame.tag != segment.tag or frame.segment != segment.number:
        return "F-307"
    if frame.lsn != lsn:
        return "F-306"
    if frame.predecessor != chain:
        return "F-308"
    if frame.mark < mark:
        return "F-309"
    if lsn - segment.base + FRAME + frame.padded > end:
        return "F-303"
    return None


def payload_failure(frame: Frame, padded: bytes) -> Optional[str]:
    if crc32c(padded[:frame.length]) != frame.payload_crc:
        return "F-304"
    if any(padded[frame.length:]):
        return "F-305"
    return None


def search(file: BinaryIO, start: int) -> Iterator[Tuple[int, Frame]]:
    """Every header at a multiple of 8 from `start` on."""
    file.seek(start)
    data = file.read()
    at = data.find(b"CFRM")
    while at >= 0:
        if (start + at) % 8 == 0:
            frame = parse_frame(data[at:at + FRAME])
            if frame is not None:
                yield start + at, frame
        at = data.find(b"CFRM", at + 1)


class Cursor:
    """Takes numbers off bytes, never past their end (F-104)."""

    def __init__(self, data: bytes, rule: str):
        self.data, self.at, self.rule = data, 0, rule

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise Broken(self.rule)
        self.at += size
        return self.data[self.at - size:self.at]

    def unpack(self, form: str) -> Tuple:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def zeros(self, size: int) -> None:
        if any(self.take(size)):
            raise Broken("F-103")

    def end(self) -> None:
        if self.at != len(self.data):
            raise Broken("F-104")

    def counters(self, count: int) -> Dict[int, int]:
        result: Dict[int, int] = {}
        last = 0
        for _ in range(count):
            tree, epoch, following = self.unpack("III")
            self.zeros(4)
            if tree <= last or epoch or not following:
                raise Broken("F-621")
            result[tree] = following
            last = tree
        return result


def parse_start(segment: Segment, payload: bytes) -> None:
    cursor = Cursor(payload, "F-104")
    live, trees = cursor.unpack("II")
    segment.schema = cursor.unpack("II")
    (segment.schema_version,) = cursor.unpack("I")
    cursor.zeros(4)
    if live * 24 + trees * 16 > len(payload):
        raise Broken("F-104")
    last = 0
    for _ in range(live):
        number, kind, end, chain = cursor.unpack("IIQI")
        cursor.zeros(4)
        if number <= last or number == segment.number or kind not in (1, 2) or end % 8 or end < HEADER:
            raise Broken("F-215")
        segment.live.append((number, kind, end, chain))
        last = number
    segment.counters = cursor.counters(trees)
    cursor.end()
    if (segment.schema == (0, 0)) != (segment.schema_version == 0):
        raise Broken("F-217")


def judge(segment: Segment) -> Optional[str]:
    """The rule that the start frame breaks; none if the segment is whole (60.4, step 2)."""
    with open(segment.path, "rb") as file:
        file.seek(HEADER)
        frame = parse_frame(file.read(FRAME))
        rule = failure(frame, segment, segment.base + HEADER, segment.checksum, 0, segment.size)
        if rule is not None or frame is None:
            return rule
        padded = file.read(frame.padded)
    rule = payload_failure(frame, padded)
    if rule is not None:
        return rule
    if frame.kind != START:
        return "F-211"
    try:
        parse_start(segment, padded[:frame.length])
    except Broken as error:
        return error.rule
    if frame.commit != segment.commit:
        return "F-218"
    return None


def find_log(folder: str) -> List[Segment]:
    """The segments of the log in order (60.4, steps 1 to 3)."""
    if not os.path.isdir(folder):
        raise Refused(f"not a store: {folder} is no folder")
    numbers = sorted(n for n in map(segment_number, os.listdir(folder)) if n is not None)
    if not numbers:
        raise Refused(f"not a store: {folder} has no segments")
    whole: Dict[int, Segment] = {}
    broken: Dict[int, Tuple[int, str]] = {}
    newest_valid: Tuple[int, Optional[str]] = (0, None)
    for number in numbers:
        path = os.path.join(folder, f"{number:010d}.segment")
        segment, rule = read_header(path, number)
        if segment is not None:
            newest_valid = (number, rule)
        offset = 0
        if rule is None and segment is not None:
            rule = judge(segment)
            offset = HEADER
            if rule is None:
                whole[number] = segment
                continue
        if rule == "side":
            continue
        with open(path, "rb") as file:
            found = any(f.segment == number for at, f in search(file, HEADER) if at > HEADER)
        if found:
            broken[number] = (offset, rule or "F-203")
    if newest_valid[1] == "F-205":
        raise Refused("unsupported version of the format")
    if newest_valid[1] == "F-208":
        raise Refused("unsupported feature")
    last = max(whole) if whole else 0
    for number in sorted(broken):
        if number > last:
            raise Damaged(number, *broken[number])
    if not last:
        raise Refused("unfinished: the creation of the store did not finish")
    log = [whole[last]]
    while log[0].predecessor:
        before = whole.get(log[0].predecessor)
        if before is None:
            raise Damaged(log[0].predecessor, 0, "F-216")
        if before.store != log[0].store:
            raise Damaged(before.number, 0, "F-216")
        if log[0].base != before.base + log[0].end_before:
            raise Damaged(log[0].number, 0, "F-216")
        log.insert(0, before)
    for index, segment in enumerate(log):
        expected = [
            (log[i].number, 1, log[i + 1].end_before, log[i + 1].chain_before) for i in range(index)
        ]
        if segment.live != expected:
            raise Damaged(segment.number, HEADER, "F-216")
    return log


# --- The log (30, 60) -------------------------------------------------------------------------------


def read_frames(folder: str, log: List[Segment]) -> List[Tuple[Segment, Frame, bytes]]:
    """All frames up to the end of the log (60.4, steps 4 to 6)."""
    frames: List[Tuple[Segment, Frame, bytes]] = []
    durable = 0
    failed: Optional[Tuple[Segment, int, str]] = None
    for index, segment in enumerate(log):
        is_last = index == len(log) - 1
        end = segment.size if is_last else log[index + 1].end_before
        lsn, chain, mark = segment.base + HEADER, segment.checksum, 0
        with open(segment.path, "rb") as file:
            file.seek(HEADER)
            while True:
                offset = lsn - segment.base
                if not is_last and offset == end:
                    break
                if is_last and end - offset < FRAME:
                    failed = (segment, lsn, "F-302")
                    break
                frame = parse_frame(file.read(FRAME))
                rule = failure(frame, segment, lsn, chain, mark, end)
                padded = b""
                if rule is None and frame is not None:
                    padded = file.read(frame.padded)
                    rule = payload_failure(frame, padded)
                if rule is not None or frame is None:
                    failed = (segment, lsn, rule or "F-302")
                    break
                frame.offset = offset
                frames.append((segment, frame, padded[:frame.length]))
                durable = max(durable, frame.mark)
                lsn += FRAME + frame.padded
                chain, mark = frame.chain, frame.mark
        if failed is not None:
            break
        if not is_last and chain != log[index + 1].chain_before:
            raise Damaged(segment.number, end, "F-216")
    if failed is None:
        raise AssertionError("the last segment ends somewhere")
    segment, stop, rule = failed
    durable = max(durable, mark_of(folder, log[0].store), marks_behind(log, segment, stop))
    if stop < durable:
        raise Damaged(segment.number, stop - segment.base, rule)
    while frames and frames[-1][1].kind not in (COMMIT, CLOSE, START):
        frames.pop()
    return frames


def mark_of(folder: str, store: bytes) -> int:
    """The LSN of the mark record, 0 without a valid one (F-213)."""
    try:
        with open(os.path.join(folder, "lock"), "rb") as file:
            data = file.read(64)
    except OSError:
        return 0
    if len(data) < 64 or data[:8] != b"CAIRNMRK" or data[8:12] != bytes(4):
        return 0
    if crc32c(data[:60]) != struct.unpack("<I", data[60:])[0] or data[16:32] != store:
        return 0
    return struct.unpack("<Q", data[40:48])[0]


def marks_behind(log: List[Segment], segment: Segment, stop: int) -> int:
    """The largest mark of headers from the failure on (60.4, step 5)."""
    largest = 0
    for other in log[log.index(segment):]:
        start = stop - segment.base if other is segment else HEADER
        with open(other.path, "rb") as file:
            for at, frame in search(file, start + 7 & ~7):
                if (frame.length <= LIMIT and frame.kind and not frame.flags & 0x7F
                        and not frame.zero and frame.mark <= frame.lsn
                        and frame.tag == other.tag and frame.segment == other.number
                        and frame.lsn == other.base + at):
                    largest = max(largest, frame.mark)
    return largest


@dataclass
class Row:
    entity: dict
    block: "Block"
    slot: int
    version: int


class Store:
    """The content of a store (60.6)."""

    def __init__(self, folder: str):
        self.folder = folder
        self.log = find_log(folder)
        self.frames = read_frames(folder, self.log)
        self.schema: Optional[dict] = None
        self.schema_place = (0, 0)
        self.by_place: Dict[Tuple[int, int], Tuple[Frame, bytes]] = {}
        self.blocks: List[Block] = []
        self.dead: Dict[Tuple[int, int], set] = {}
        self.counters: Dict[int, int] = {}
        self.commit = 0
        self.apply()

    def apply(self) -> None:
        opened: List[Tuple[Segment, Frame, bytes]] = []
        for segment, frame, payload in self.frames:
            try:
                if frame.kind not in DEFINED:
                    if not frame.flags & 0x80:
                        raise Refused(f"unsupported feature: a frame of kind {frame.kind}")
                    opened.append((segment, frame, payload))
                    continue
                if frame.version:
                    raise Refused("unsupported version of a payload")
                if frame.kind in (START, CLOSE):
                    if opened:
                        raise Broken("F-603")
                    if frame.commit != self.commit:
                        raise Broken("F-603")
                    self.apply_boundary(segment, frame, payload)
                    continue
                opened.append((segment, frame, payload))
                if frame.kind == COMMIT:
                    self.apply_commit(opened)
                    opened = []
            except Broken as error:
                raise Damaged(segment.number, frame.offset, error.rule) from error

    def apply_boundary(self, segment: Segment, frame: Frame, payload: bytes) -> None:
        if frame.kind == START:
            if (frame.offset == HEADER) is not True:
                raise Broken("F-211")
            if segment.schema != (0, 0) and segment.schema != self.schema_place:
                raise Broken("F-217")
            counters = segment.counters
        else:
            cursor = Cursor(payload, "F-104")
            _, trees = cursor.unpack("dI")
            cursor.zeros(4)
            counters = cursor.counters(trees)
            cursor.end()
        self.raise_counters(counters)

    def raise_counters(self, counters: Dict[int, int]) -> None:
        for tree, following in counters.items():
            if following < self.counters.get(tree, 1):
                raise Broken("F-622")
            self.counters[tree] = following

    def apply_commit(self, frames: List[Tuple[Segment, Frame, bytes]]) -> None:
        segment, last, payload = frames[-1]
        cursor = Cursor(payload, "F-104")
        first, count, trees, _, _, _, _, author, context = cursor.unpack("QIIdQQQHH")
        cursor.zeros(4)
        counters = cursor.counters(trees)
        for length in (author, context):
            if length > 4096:
                raise Broken("F-606")
            try:
                cursor.take(length).decode("utf-8")
            except UnicodeDecodeError as error:
                raise Broken("F-606") from error
        cursor.end()
        if count != len(frames) - 1 or first != frames[0][1].lsn:
            raise Broken("F-601")
        if last.commit <= self.commit or any(f.commit != last.commit for _, f, _ in frames):
            raise Broken("F-602")
        self.commit = last.commit
        self.raise_counters(counters)
        earlier = list(self.blocks)
        for part, frame, body in frames[:-1]:
            place = (part.number, frame.offset // 8)
            try:
                self.by_place[place] = (frame, body)
                if frame.kind == SCHEMA:
                    self.apply_schema(body, place)
                elif frame.kind == BLOCK:
                    block = Block(self, place, body)
                    self.blocks.append(block)
                    self.dead[place] = set()
                elif frame.kind == DEATHS:
                    self.apply_deaths(body, earlier)
            except Broken as error:
                raise Damaged(part.number, frame.offset, error.rule) from error

    def apply_schema(self, body: bytes, place: Tuple[int, int]) -> None:
        try:
            schema = json.loads(body.decode("utf-8"))
        except ValueError as error:
            raise Broken("F-701") from error
        before = self.schema["version"] if self.schema else 0
        if schema.get("format") != 0 or schema.get("version", 0) <= before:
            raise Broken("F-702")
        self.schema, self.schema_place = schema, place
        self.entities = {}
        names = set()
        for entity in schema["entities"]:
            if entity["id"] < 1 or entity["id"] in self.entities or entity["name"] in names:
                raise Broken("F-703")
            names.add(entity["name"])
            self.entities[entity["id"]] = entity
            seen = set()
            for item in entity["properties"]:
                if item["id"] in seen or not 1 <= item["id"] < 0xFFFFFF00:
                    raise Broken("F-704")
                seen.add(item["id"])
                if KIND_COLUMN.get(item["kind"]) != COLUMNS.get(item["column"]):
                    raise Broken("F-705")

    def apply_deaths(self, body: bytes, earlier: List["Block"]) -> None:
        cursor = Cursor(body, "F-611")
        (count,) = cursor.unpack("I")
        cursor.zeros(4)
        if not count or count * 16 > len(body):
            raise Broken("F-611")
        for _ in range(count):
            one, two, form, zero, dead, length = cursor.unpack("IIBBHH")
            cursor.zeros(2)
            if zero:
                raise Broken("F-103")
            data = cursor.take(length)
            if form == 4:
                if dead or length or two or not one:
                    raise Broken("F-612")
                for block in earlier:
                    if block.entity["id"] == one:
                        self.dead[block.place].update(range(block.rows))
                continue
            self.kill((one, two), form, dead, data)
        cursor.end()

    def kill(self, place: Tuple[int, int], form: int, dead: int, data: bytes) -> None:
        if not place[0] or not 1 <= dead <= 1024:
            raise Broken("F-612")
        if place not in self.dead:
            raise Broken("F-614")
        rows = next(b.rows for b in [self.block_at[place]])
        if form == 1 and not data:
            if dead != rows:
                raise Broken("F-613")
            slots = list(range(rows))
        elif form == 2 and len(data) == dead * 2:
            slots = list(struct.unpack(f"<{dead}H", data))
            if any(a >= b for a, b in zip(slots, slots[1:])):
                raise Broken("F-612")
            if slots[-1] >= rows:
                raise Broken("F-613")
        elif form == 3:
            if len(data) != (rows + 7) // 8:
                raise Broken("F-613")
            slots = [i for i in range(len(data) * 8) if data[i // 8] >> i % 8 & 1]
            if len(slots) != dead:
                raise Broken("F-612")
            if slots[-1] >= rows:
                raise Broken("F-613")
        else:
            raise Broken("F-612")
        self.dead[place].update(slots)

    @property
    def block_at(self) -> Dict[Tuple[int, int], "Block"]:
        if len(getattr(self, "_at", {})) != len(self.blocks):
            self._at = {b.place: b for b in self.blocks}
        return self._at

    def rows(self) -> List[Tuple[int, int, Row]]:
        """Every row by tree and object number (F-643)."""
        found: Dict[Tuple[int, int], Row] = {}
        for block in self.blocks:
            dead = self.dead[block.place]
            if len(dead) == block.rows:
                continue
            try:
                numbers, versions = block.cells(NUMBER), block.cells(VERSION)
                tree = block.entity["tree"]
                for slot in range(block.rows):
                    number, version = numbers[slot], versions[slot]
                    if not 1 <= number <= 0xFFFFFFFE or not 1 <= version <= 4194303:
                        raise Broken("F-407")
                    if slot in dead:
                        continue
                    if number >= self.counters.get(tree, 1):
                        raise Broken("F-622")
                    if (tree, number) in found:
                        raise Broken("F-643")
                    found[(tree, number)] = Row(block.entity, block, slot, version)
            except Broken as error:
                raise Damaged(block.place[0], block.place[1] * 8, error.rule) from error
        return [(tree, number, found[(tree, number)]) for tree, number in sorted(found)]

    def large(self, cell: bytes, row: Row, number: int, item: dict) -> bytes:
        """A value that has frames of its own (60.5)."""
        segment, offset8, length, checksum, zero = struct.unpack("<IIQII", cell)
        if zero:
            raise Broken("F-103")
        if not segment or not length:
            raise Broken("F-631")
        data = b""
        sequence = 0
        while len(data) < length:
            frame, body = self.by_place.get((segment, offset8), (None, b""))
            if frame is None or frame.kind != VALUE or len(body) <= 32:
                raise Broken("F-631" if sequence == 0 else "F-632")
            tree, owner, item_id, order, total, at = struct.unpack("<IIIIQQ", body[:32])
            if (tree, owner, item_id, order, total, at) != (
                    row.entity["tree"], number, item["id"], sequence, length, len(data)):
                raise Broken("F-632")
            data += body[32:]
            if len(data) > length:
                raise Broken("F-633")
            offset8 += (FRAME + frame.padded) // 8
            sequence += 1
        if crc32c(data) != checksum:
            raise Broken("F-634")
        return data


# --- Blocks and columns (40, 50) --------------------------------------------------------------------


class Block:
    """Rows of one entity."""

    def __init__(self, store: Store, place: Tuple[int, int], payload: bytes):
        self.place = place
        self.payload = payload
        cursor = Cursor(payload, "F-104")
        entity, version, self.rows, count, flags, zero, raw, checksum = cursor.unpack("IIHHHHII")
        table = cursor.take(count * 20)
        if crc32c(table, crc32c(payload[:20])) != checksum:
            raise Broken("F-401")
        if not 1 <= self.rows <= 1024:
            raise Broken("F-402")
        if flags & ~1 or zero or not entity:
            raise Broken("F-403")
        self.columns: Dict[int, Tuple] = {}
        at, total, last = 24 + count * 20, 0, -1
        for item in struct.iter_unpack("<IBBBBIII", table):
            number, kind, encoding, bits, zero, stored, size, crc = item
            if number <= last:
                raise Broken("F-404")
            if zero:
                raise Broken("F-103")
            fits = {1: (1,), 2: (1,), 3: (2, 3), 4: (2,), 5: (2, 3, 5), 6: (4,), 7: (4,), 8: (5,)}
            if kind not in fits.get(encoding, ()) or bits & ~7 or (bits & 4 and encoding != 6):
                raise Broken("F-409")
            if (stored >= size) if bits & 2 else (stored != size):
                raise Broken("F-412")
            if bits & 2 and self.rows < 32:
                raise Broken("F-413")
            self.columns[number] = (kind, encoding, bits, at, stored, size, crc)
            at, total, last = at + stored, total + size, number
        if at != len(payload):
            raise Broken("F-405")
        if total != raw or raw > LIMIT:
            raise Broken("F-406")
        if list(self.columns)[-2:] != [NUMBER, VERSION]:
            raise Broken("F-407")
        for hidden in (NUMBER, VERSION):
            if self.columns[hidden][0] != 1 or self.columns[hidden][2] & 1:
                raise Broken("F-407")
        self.check_schema(store, entity, version)
        self.decoded: Dict[int, list] = {}
        self.external: Dict[int, set] = {}

    def check_schema(self, store: Store, entity: int, version: int) -> None:
        if store.schema is None or entity not in store.entities:
            raise Broken("F-415")
        self.entity = store.entities[entity]
        kinds = {p["id"]: KIND_COLUMN[p["kind"]] for p in self.entity["properties"]}
        if self.entity.get("abstract") or not 1 <= version <= store.schema["version"]:
            raise Broken("F-415")
        for number, column in self.columns.items():
            if number not in (NUMBER, VERSION) and kinds.get(number) != column[0]:
                raise Broken("F-415")

    def cells(self, number: int) -> list:
        """The cells of a column; nil is None."""
        if number not in self.decoded:
            if number in self.columns:
                self.decoded[number] = self.decode(number)
            else:
                self.decoded[number] = [None] * self.rows  # F-408
        return self.decoded[number]

    def decode(self, number: int) -> list:
        kind, encoding, bits, at, stored, size, crc = self.columns[number]
        data = self.payload[at:at + stored]
        if crc32c(data) != crc:
            raise Broken("F-410")
        if bits & 2:
            data = lz4(data, size)
        cursor = Cursor(data, "F-414")
        nils = self.bitmap(cursor, "F-501") if bits & 1 else set()
        external = self.bitmap(cursor, "F-502") if bits & 4 else set()
        values = DECODERS[encoding](cursor, self.rows, kind)
        if cursor.at != len(data):
            raise Broken("F-414")
        if nils and encoding == 2:
            raise Broken("F-512")
        if nils and encoding == 5:
            raise Broken("F-522")
        for slot in external:
            if slot in nils or len(values[slot]) != 24:
                raise Broken("F-502")
        self.external[number] = external
        return [None if slot in nils else value for slot, value in enumerate(values)]

    def bitmap(self, cursor: Cursor, rule: str) -> set:
        data = cursor.take((self.rows + 7) // 8)
        bits = {i for i in range(len(data) * 8) if data[i // 8] >> i % 8 & 1}
        if any(i >= self.rows for i in bits):
            raise Broken(rule)
        return bits


def unsigned(cursor: Cursor, count: int, width: int) -> List[int]:
    if width == 0:
        return [0] * count
    return list(struct.unpack(f"<{count}{' BH I   Q'[width]}", cursor.take(count * width)))


def decode_narrow(cursor: Cursor, rows: int, kind: int) -> list:
    base, width = cursor.unpack("qB")
    if width not in (0, 1, 2, 4, 8):
        raise Broken("F-510")
    if width == 8:
        if base:
            raise Broken("F-510")
        return list(struct.unpack(f"<{rows}q", cursor.take(rows * 8)))
    values = [base + distance for distance in unsigned(cursor, rows, width)]
    if any(value > I64_MAX for value in values):
        raise Broken("F-511")
    return values


def decode_sequence(cursor: Cursor, rows: int, kind: int) -> list:
    first, step = cursor.unpack("qq")
    span = (rows - 1) * step
    if not I64_MIN <= span <= I64_MAX or not I64_MIN <= first + span <= I64_MAX:
        raise Broken("F-512")
    return [first + slot * step for slot in range(rows)]


def decode_planes(cursor: Cursor, rows: int, kind: int) -> list:
    size = 8 if kind == 2 else 4
    data = cursor.take(rows * size)
    joined = bytearray(rows * size)
    for plane in range(size):
        joined[plane::size] = data[plane * rows:(plane + 1) * rows]
    return list(struct.unpack(f"<{rows}{'d' if kind == 2 else 'f'}", bytes(joined)))


def decode_scaled(cursor: Cursor, rows: int, kind: int) -> list:
    (scale,) = cursor.unpack("B")
    base, width = cursor.unpack("qB")
    if scale > 9 or width not in (0, 1, 2, 4) or not -(1 << 53) <= base <= (1 << 53) - 4294967295:
        raise Broken("F-521")
    power = float(10 ** scale)
    return [float(base + distance) / power for distance in unsigned(cursor, rows, width)]


def decode_constant(cursor: Cursor, rows: int, kind: int) -> list:
    value = cursor.take(16) if kind == 5 else cursor.unpack("d" if kind == 2 else "f")[0]
    return [value] * rows


def decode_lengths(cursor: Cursor, rows: int, kind: int, rest: Optional[int] = None) -> list:
    base, width = cursor.unpack("IB")
    if width not in (0, 1, 2, 4):
        raise Broken("F-530")
    lengths = [base + distance for distance in unsigned(cursor, rows, width)]
    if rest is None and sum(lengths) != len(cursor.data) - cursor.at:
        raise Broken("F-530")
    return [cursor.take(length) for length in lengths]


def decode_dictionary(cursor: Cursor, rows: int, kind: int) -> list:
    count, width = cursor.unpack("HB")
    if not 1 <= count <= rows or width != (0 if count == 1 else 1 if count <= 256 else 2):
        raise Broken("F-531")
    entries = decode_lengths(cursor, count, kind, rest=rows * width)
    codes = unsigned(cursor, rows, width)
    if any(code >= count for code in codes):
        raise Broken("F-532")
    return [entries[code] for code in codes]


def decode_plain(cursor: Cursor, rows: int, kind: int) -> list:
    return [cursor.take(16) for _ in range(rows)]


DECODERS = {
    1: decode_narrow, 2: decode_sequence, 3: decode_planes, 4: decode_scaled, 5: decode_constant,
    6: decode_lengths, 7: decode_dictionary, 8: decode_plain,
}


# --- Canonical export (80) --------------------------------------------------------------------------


def lay_out(negative: bool, digits: str, point: int) -> str:
    """Digits and the power of ten in front of them, as F-811 lays them out."""
    count = len(digits)
    if count <= point <= 21:
        text = digits + "0" * (point - count)
    elif 0 < point <= 21:
        text = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        power = point - 1
        text = digits[0] + ("." + digits[1:] if count > 1 else "")
        text += "e" + ("-" if power < 0 else "+") + str(abs(power))
    return "-" + text if negative else text


def split(text: str) -> Tuple[bool, str, int]:
    """Sign, digits and point of a number in Python's notation."""
    negative = text.startswith("-")
    mantissa, _, power = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(power or "0")
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return negative, stripped.rstrip("0"), point


def special(value: float) -> Optional[str]:
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0:
        return "-0" if str(value).startswith("-") else "0"
    return None


def print_double(value: float) -> str:
    return special(value) or lay_out(*split(repr(value)))


def print_float(value: float) -> str:
    """The fewest digits that give the same binary32 (F-812)."""
    known = special(value)
    if known:
        return known
    bits = struct.pack("<f", value)
    for count in range(1, 10):
        text = f"{value:.{count - 1}e}"
        try:
            if struct.pack("<f", float(text)) == bits and rounds_to(text, value):
                return lay_out(*split(text))
        except OverflowError:
            continue
    raise AssertionError("nine digits tell every float")


def rounds_to(text: str, value: float) -> bool:
    """Whether text, read with one rounding to binary32, gives the float: `float` rounds twice."""
    from fractions import Fraction
    exact = Fraction(text)
    (word,) = struct.unpack("<I", struct.pack("<f", abs(value)))
    target = abs(exact)
    here = Fraction(abs(value))
    low = Fraction(struct.unpack("<f", struct.pack("<I", word - 1))[0]) if word else -here
    high_word = word + 1
    if high_word == 0x7F800000:
        high = here + (here - low)
    else:
        high = Fraction(struct.unpack("<f", struct.pack("<I", high_word))[0])
    below, above = (low + here) / 2, (here + high) / 2
    if below < target < above:
        return True
    return target in (below, above) and word % 2 == 0


def print_date(value: float) -> str:
    """F-817."""
    product = value * 1000.0
    if product == product and abs(product) < 1e15:
        milliseconds = round(product)
        same = struct.pack("<d", milliseconds / 1000.0) == struct.pack("<d", value)
        if same and -63113904000000 <= milliseconds <= 252423993599999:
            seconds, rest = divmod(milliseconds, 1000)
            days, seconds = divmod(seconds, 86400)
            day = calendar_date.fromordinal(calendar_date(2001, 1, 1).toordinal() + days)
            fraction = f".{rest:03d}" if rest else ""
            clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
            return f'"{day.year:04d}-{day.month:02d}-{day.day:02d}T{clock}{fraction}Z"'
    return print_double(value)


ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
TRANSLATION = {**{code: f"\\u00{code:02x}" for code in range(32)}, **ESCAPES}


def print_text(text: str) -> str:
    return '"' + text.translate(TRANSLATION) + '"'


def print_decimal(data: bytes) -> str:
    """F-816 and F-550."""
    if data == b"\0":
        return '"0"'
    if not 3 <= len(data) <= 18 or data[0] not in (1, 2) or data[-1] == 0:
        raise Broken("F-550")
    exponent = data[1] - 256 if data[1] > 127 else data[1]
    coefficient = int.from_bytes(data[2:], "little")
    if coefficient % 10 == 0 and exponent != 127:
        raise Broken("F-550")
    digits = str(coefficient)
    if exponent >= 0:
        digits += "0" * exponent
    else:
        digits = digits.rjust(1 - exponent, "0")
        digits = digits[:exponent] + "." + digits[exponent:]
    return ('"-' if data[0] == 2 else '"') + digits + '"'


def print_value(kind: str, value) -> str:
    if kind in ("integer16", "integer32", "integer64", "order", "reference", "boolean"):
        low, high = RANGES.get(kind, (I64_MIN, I64_MAX))
        if not low <= value <= high:
            raise Broken("F-554" if kind == "reference" else "F-551")
        if kind == "boolean":
            return "true" if value else "false"
        return str(value)
    if kind == "double":
        return print_double(value)
    if kind == "float":
        return print_float(value)
    if kind == "date":
        return print_date(value)
    if kind in ("string", "uri"):
        try:
            return print_text(value.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise Broken("F-553") from error
    if kind == "decimal":
        return print_decimal(value)
    if kind == "uuid":
        text = value.hex().upper()
        return f'"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"'
    return '"' + base64.b64encode(value).decode("ascii") + '"'


def export(store: Store, out: BinaryIO) -> None:
    if store.schema is None:
        raise Refused("unfinished: the store has no schema")
    # A damaged store has no canonical export: everything is read before anything is printed.
    lines = [f'{{"cairn":"export","format":0,"schema":{store.schema["version"]}}}\n']
    for _, number, row in store.rows():
        try:
            values = []
            for item in row.entity["properties"]:
                value = row.block.cells(item["id"])[row.slot]
                if value is not None and row.slot in row.block.external.get(item["id"], ()):
                    value = store.large(value, row, number, item)
                shown = "null" if value is None else print_value(item["kind"], value)
                values.append(f'{print_text(item["name"])}:{shown}')
        except Broken as error:
            raise Damaged(row.block.place[0], row.block.place[1] * 8, error.rule) from error
        lines.append(
            f'{{"entity":{print_text(row.entity["name"])},"id":{number},"version":{row.version},'
            f'"values":{{{",".join(values)}}}}}\n')
    out.write("".join(lines).encode("utf-8"))


def list_frames(folder: str, out: BinaryIO) -> None:
    for segment, frame, _ in read_frames(folder, find_log(folder)):
        name = NAMES.get(frame.kind, str(frame.kind))
        line = f"{segment.number} {frame.offset} {name} {frame.length} {frame.commit}\n"
        out.write(line.encode("ascii"))


def main(arguments: List[str]) -> int:
    wants_frames = arguments[:1] == ["--frames"]
    paths = arguments[1:] if wants_frames else arguments
    if len(paths) != 1 or paths[0].startswith("-"):
        print("usage: reader.py [--frames] STORE", file=sys.stderr)
        return 2
    try:
        if wants_frames:
            list_frames(paths[0], sys.stdout.buffer)
        else:
            export(Store(paths[0]), sys.stdout.buffer)
        sys.stdout.flush()
        return 0
    except Damaged as error:
        print(error, file=sys.stderr)
        return 3
    except (Refused, OSError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
