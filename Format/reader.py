#!/usr/bin/env python3
"""An independent reader of the Cairn store format, version 1.

Written from the chapters beside this file alone, without a look at the engine: what it prints is a second opinion on
what the text says. It needs Python 3.9 and nothing but the standard library. The rules' ids stand beside their checks.

    python3 reader.py STORE             the content as canonical export (chapter 80) on standard output
    python3 reader.py --frames STORE    the frames of the log: segment, offset, kind, payload length, commit
    python3 reader.py --metadata STORE  the metadata in force (chapter 75): revision and document, a line of JSON each
    python3 reader.py --at N STORE      the same of the state after commit N (chapter 79)
    python3 reader.py --history STORE   the history as far as it is retained (chapter 77): a line of JSON for each commit
    python3 reader.py --redirects STORE where the ids of objects lead that others took the place of (chapter 78)

Steps: list the segments, judge each file, take the live set, read the frames, find the mark, judge the tail (60.4, 1 to
6); decode the payloads of side segments and of the commits in order and take away the deaths (60.4, 7, 60.6 and 65);
print what lives. All is read before the first line is printed, so a damaged store prints nothing.

Exit status: 0 fine; 1 not a store, unfinished, unsupported or unreadable; 2 wrong usage; 3 damaged, with one line on
standard error that names segment, offset and rule.

The reader takes the store as being at rest: it takes no lock, and does not stop at the mark of a running writer.
"""
from __future__ import annotations

import base64
import binascii
import datetime
import json
import math
import os
import re
import struct
import sys
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, NoReturn, Optional, Sequence, Set, Tuple, Union

VERSION, PAYLOAD_VERSION = 1, 0  # 10.6
SEGMENT_HEADER, FRAME_HEADER = 4096, 56
PAYLOAD_LIMIT = 1 << 24
MAIN, SIDE = 1, 2
START, SCHEMA, BLOCK, PATCH, DEATHS, VALUE, CHANGES, ADOPT, RETIRE, METADATA, COMMIT, CLOSE, REDIRECTS = (
    1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14)
KIND_NAMES = {START: "start", SCHEMA: "schema", BLOCK: "block", PATCH: "patch", DEATHS: "deaths", VALUE: "value",
              CHANGES: "changes", 8: "reserve", ADOPT: "adopt", RETIRE: "retire", METADATA: "metadata", COMMIT: "commit", CLOSE: "close",
              REDIRECTS: "redirects"}
OBJECT_NUMBER, ROW_VERSION = 0xFFFFFFFE, 0xFFFFFFFF  # hidden columns, 40.3
INTEGER, DOUBLE, FLOAT, BYTES, FIXED16 = 1, 2, 3, 4, 5  # column kinds, 50.1
NARROW, SEQUENCE, PLANES, SCALED, CONSTANT, LENGTHS, DICTIONARY, PLAIN = range(1, 9)  # encodings, 50.3
PACKED, PACKED_DECIMALS, PACKED_BITS, TEXTS, SYMBOLS, PACKED_DICTIONARY = range(9, 15)  # 50.13
ENCODINGS = {INTEGER: {NARROW, SEQUENCE, PACKED}, DOUBLE: {PLANES, SCALED, CONSTANT, PACKED_DECIMALS, PACKED_BITS},
             FLOAT: {PLANES, CONSTANT, PACKED_BITS}, FIXED16: {CONSTANT, PLAIN},
             BYTES: {LENGTHS, DICTIONARY, TEXTS, SYMBOLS, PACKED_DICTIONARY}}
COLUMN_NAMES = {"integer": INTEGER, "double": DOUBLE, "float": FLOAT, "bytes": BYTES, "fixed16": FIXED16}
COLUMN_OF_KIND = {"integer16": INTEGER, "integer32": INTEGER, "integer64": INTEGER, "boolean": INTEGER,
                  "reference": INTEGER, "order": INTEGER, "double": DOUBLE, "date": DOUBLE, "float": FLOAT,
                  "string": BYTES, "uri": BYTES, "binary": BYTES, "transformable": BYTES, "decimal": BYTES,
                  "uuid": FIXED16}  # 50.11
UNSIGNED = {1: "B", 2: "H", 4: "I"}
U32_MAX, MAX_NUMBER, MAX_VERSION, MAX_PROPERTY = 0xFFFFFFFF, 4294967294, 4194303, 4294967039  # 10.5


# Reports (10.4)

class Refused(Exception):
    """The store cannot be read, and is not known to be damaged: notAStore, unfinished, unsupported."""


class Broken(Exception):
    """A rule is broken in bytes whose place the catcher knows."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(rule, what)
        self.rule, self.what = rule, what


class Damaged(Exception):
    """F-110: segment and offset of the frame header concerned, or offset 0 for the segment header."""

    def __init__(self, segment: int, offset: int, rule: str, what: str) -> None:
        super().__init__(f"segment {segment}, offset {offset}: damaged: {what} ({rule})")


def need(condition: bool, rule: str, what: str) -> None:
    if not condition:
        raise Broken(rule, what)


def need_zero(data: bytes, what: str) -> None:
    need(not any(data), "F-103", f"reserved bytes of {what} are not zero")


# CRC-32C (F-102), eight bytes a step by four tables of 65,536 entries

def crc_tables() -> Tuple[List[int], List[int], List[int], List[int], List[int]]:
    one = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)  # 0x1EDC6F41, reflected
        one.append(value)
    tables = [[one[(once ^ i >> 8) & 255] ^ once >> 8 for i in range(65536) for once in (one[i & 255],)]]
    first = tables[0]  # the effect of two bytes, followed by 0, 2, 4 and 6 zero bytes
    for _ in range(3):
        tables.append([first[x & 0xFFFF] ^ x >> 16 for x in tables[-1]])
    return one, tables[0], tables[1], tables[2], tables[3]


CRC_ONE, CRC_0, CRC_2, CRC_4, CRC_6 = crc_tables()


def crc32c(data: bytes) -> int:
    crc, whole = 0xFFFFFFFF, len(data) & ~7
    zero, two, four, six = CRC_0, CRC_2, CRC_4, CRC_6
    for (word,) in struct.iter_unpack("<Q", memoryview(data)[:whole]):
        word ^= crc
        crc = six[word & 0xFFFF] ^ four[word >> 16 & 0xFFFF] ^ two[word >> 32 & 0xFFFF] ^ zero[word >> 48]
    for byte in data[whole:]:
        crc = CRC_ONE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def lz4_block(source: bytes, length: int) -> bytes:
    """F-411: one LZ4 block of exactly `length` bytes; its last sequence has literals only."""
    out, at, end = bytearray(), 0, len(source)

    def extended(count: int) -> int:
        nonlocal at
        while count - 15 >= 0:
            need(at < end, "F-411", "an LZ4 block ends inside a length")
            byte = source[at]
            at += 1
            count += byte
            if byte != 255:
                break
        return count

    while True:
        need(at < end, "F-411", "an LZ4 block ends without its last literals")
        token = source[at]
        at += 1
        literals = extended(token >> 4) if token >> 4 == 15 else token >> 4
        need(literals <= end - at and literals <= length - len(out), "F-411", "LZ4 literals are too long")
        out += source[at:at + literals]
        at += literals
        if at == end:
            break
        need(end - at >= 2, "F-411", "an LZ4 block ends inside an offset")
        distance = source[at] | source[at + 1] << 8
        at += 2
        count = (extended(15) if token & 15 == 15 else token & 15) + 4
        need(0 < distance <= len(out), "F-411", "an LZ4 offset reaches before the block")
        need(count <= length - len(out), "F-411", "an LZ4 match is too long")
        begin = len(out) - distance
        if distance >= count:
            out += out[begin:begin + count]
        else:
            pattern = bytes(out[begin:])
            out += (pattern * (count // distance + 1))[:count]
    need(len(out) == length, "F-411", "an LZ4 block has another raw length")
    return bytes(out)


# Segments and frames (20, 30)

class Frame(NamedTuple):
    segment: int
    offset: int
    kind: int
    flags: int
    version: int
    zero: int
    length: int
    payload_crc: int
    commit: int
    lsn: int
    mark: int
    predecessor: int
    tag: int
    segment_field: int
    crc: int

    @property
    def end(self) -> int:
        return self.offset + FRAME_HEADER + (self.length + 7 & ~7)


class Member(NamedTuple):
    number: int
    kind: int
    end: int
    chain: int


class Start(NamedTuple):
    schema_place: Tuple[int, int]
    schema_version: int
    live: List[Member]
    counters: List[Tuple[int, int]]


def frame_header(data: bytes, offset: int, segment: int) -> Optional[Frame]:
    """F-302, or nothing."""
    if offset + FRAME_HEADER > len(data) or data[offset:offset + 4] != b"CFRM":
        return None
    crc = int.from_bytes(data[offset + 52:offset + 56], "little")
    if crc32c(data[offset:offset + 52]) != crc:
        return None
    return Frame(segment, offset, *struct.unpack_from("<BBBBIIQQQIII", data, offset + 4), crc)


def headers_from(data: bytes, offset: int, segment: int) -> Iterator[Frame]:
    """Every frame header at a multiple of 8 from `offset` on."""
    at = data.find(b"CFRM", offset)
    while at >= 0:
        frame = frame_header(data, at, segment) if at % 8 == 0 else None
        if frame:
            yield frame
        at = data.find(b"CFRM", at + 1)


class Segment:
    """One file, judged by itself (60.4, step 2)."""

    def __init__(self, number: int, data: bytes) -> None:
        self.number, self.data = number, data
        self.fault: Union[Damaged, Refused, None] = None
        self.start: Optional[Start] = None
        self.start_commit = 0
        self.crc = int.from_bytes(data[4092:4096], "little")
        # F-203: nothing else in the header is looked at before.
        self.valid = len(data) >= SEGMENT_HEADER and data[:8] == b"CAIRNSEG" and crc32c(data[:4092]) == self.crc
        self.version = self.kind = self.read_only_compatible = self.incompatible = 0
        self.valid_header = False
        place = 0
        try:
            need(self.valid, "F-203", "the segment header is damaged")
            self._read_header()
            self.valid_header = True
            place = SEGMENT_HEADER
            if self.kind == MAIN:
                self._read_start()
        except Broken as fault:
            self.fault = Damaged(number, place, fault.rule, fault.what)
        except Refused as fault:
            self.fault = fault
        self.whole = self.fault is None
        self.broken = not self.whole and any(
            frame.segment_field == number for frame in headers_from(data, SEGMENT_HEADER + 8, number))

    def _read_header(self) -> None:
        data = self.data
        (self.version, self.kind, self.store_id, own, self.predecessor, self.base, self.predecessor_end,
         self.predecessor_chain) = struct.unpack_from("<II16sIIQQI", data, 8)
        self.read_only_compatible, self.incompatible, self.commit = struct.unpack_from("<QQ8xQ", data, 72)
        self.tag = crc32c(self.store_id)
        if self.version != VERSION:  # F-205, F-120
            raise Refused(f"unsupportedVersion: segment {self.number} has format version {self.version}")
        if self.incompatible & ~(MIGRATED_BIT | PACKED_BIT):  # F-208; the other two words do not concern a reader (F-206, F-207)
            raise Refused(f"unsupportedFeature: segment {self.number} has incompatible flags {self.incompatible:#x}")
        need_zero(data[60:64] + data[104:4092], "the segment header")
        need(own == self.number, "F-204", f"the segment header says number {own}")
        need(self.kind in (MAIN, SIDE), "F-209", "the kind of the segment is unknown")
        if self.kind == SIDE or self.predecessor == 0:
            need(self.predecessor == self.base == self.predecessor_end == self.predecessor_chain == 0,
                 "F-212", "a segment without predecessor speaks of one")
        else:
            need(self.predecessor < self.number, "F-212", "the predecessor is not before the segment")
            need(self.predecessor_end % 8 == 0 and self.predecessor_end >= SEGMENT_HEADER,
                 "F-212", "the predecessor's end is no end")
            need(self.base % 8 == 0 and self.predecessor_end <= self.base < 1 << 62,
                 "F-212", "the base LSN is out of bounds")

    def _read_start(self) -> None:
        frame = self.read_frame(SEGMENT_HEADER, self.crc, 0, len(self.data))
        need(frame.kind == START, "F-211", "the first frame is no start frame")
        if frame.version != PAYLOAD_VERSION:
            raise Refused(f"unsupportedVersion: segment {self.number}, offset 4096: payload version {frame.version}")
        self.start, self.start_commit = decode_start(self.payload(frame), self.number), frame.commit

    def payload(self, frame: Frame) -> bytes:
        begin = frame.offset + FRAME_HEADER
        return self.data[begin:begin + frame.length]

    def header_fault(self, frame: Frame) -> Optional[Tuple[str, str]]:
        """The rules that a header obeys by itself, in the order of 60.4, step 6."""
        if frame.length > PAYLOAD_LIMIT:
            return "F-303", "the payload is over the limit"
        if frame.kind == 0:
            return "F-310", "the frame has kind 0"
        if frame.flags & 0x7F or frame.zero:
            return "F-313", "reserved bits of the frame header are not zero"
        if frame.mark > frame.lsn:
            return "F-309", "the mark is above the frame"
        if frame.tag != self.tag or frame.segment_field != self.number:
            return "F-307", "the frame is of another store or segment"
        if frame.lsn != self.base + frame.offset:
            return "F-306", "the frame has the LSN of another place"
        return None

    def read_frame(self, offset: int, chain: int, mark: int, limit: int) -> Frame:
        """The frame at `offset`, or Broken by the first rule in the order of 60.4, step 6."""
        need(offset + FRAME_HEADER <= min(limit, len(self.data)), "F-303", "the segment ends here")
        frame = frame_header(self.data, offset, self.number)
        if frame is None:
            raise Broken("F-302", "there is no frame header")
        fault = self.header_fault(frame)
        if fault:
            raise Broken(*fault)
        need(frame.predecessor == chain, "F-308", "the frame continues another chain")
        need(frame.mark >= mark, "F-309", "the mark is below the mark before it")
        need(frame.end <= min(limit, len(self.data)), "F-303", "the segment ends inside the frame")
        need(crc32c(self.payload(frame)) == frame.payload_crc, "F-304", "the payload is damaged")
        need(not any(self.data[offset + FRAME_HEADER + frame.length:frame.end]), "F-305", "the padding is not zero")
        return frame


def decode_counters(data: bytes) -> List[Tuple[int, int]]:
    """F-621: (tree, next)."""
    counters: List[Tuple[int, int]] = []
    for tree, epoch, following, zero in struct.iter_unpack("<IIII", data):
        need(zero == 0, "F-103", "reserved bytes of a counter are not zero")
        need(tree > (counters[-1][0] if counters else 0), "F-621", "counters are not in rising order of trees")
        need(following != 0 and epoch == 0, "F-621", "a counter has next 0 or an epoch")
        counters.append((tree, following))
    return counters


def decode_start(data: bytes, number: int) -> Start:
    need(len(data) >= 24, "F-104", "the start frame is too short")
    count, trees, place_segment, place_offset, version, zero = struct.unpack_from("<IIIIII", data)
    need(zero == 0, "F-103", "reserved bytes of the start frame are not zero")
    middle = 24 + 24 * count
    need(len(data) == middle + 16 * trees, "F-104", "the start frame has another length than its counts say")
    live: List[Member] = []
    for member, kind, end, chain, zero in struct.iter_unpack("<IIQII", data[24:middle]):
        need(zero == 0, "F-103", "reserved bytes of the live set are not zero")
        need(member > (live[-1].number if live else 0), "F-215", "the live set is not in rising order")
        need(member != number, "F-215", "the live set names the segment itself")
        need(kind in (MAIN, SIDE), "F-215", "the live set has an unknown kind")
        need(end % 8 == 0 and SEGMENT_HEADER <= end < 1 << 62, "F-215", "the live set has an end that is none")
        live.append(Member(member, kind, end, chain))
    place = (place_segment, place_offset * 8)
    need((place == (0, 0)) == (version == 0), "F-217", "one of schema place and schema version is zero")
    return Start(place, version, live, decode_counters(data[middle:]))


# Opening (60.4)

class Log:
    """Steps 1 to 6: `frames` are those below `end` if there is no `damage`, else those read before it."""

    def __init__(self, folder: str, at: Optional[int] = None) -> None:
        self.files: Dict[int, Segment] = {}
        self.frames: List[Frame] = []
        self.damage: Optional[Damaged] = None
        self.live: Dict[int, Member] = {}  # at the newest start frame, with the newest segment
        self.retired: Set[int] = set()  # by whole commits in the newest segment
        self.adopted: List[Part] = []  # likewise
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if re.fullmatch(r"[0-9]{10}\.segment", name) and os.path.isfile(path):  # F-201
                number = int(name[:10])
                if 1 <= number <= U32_MAX:
                    with open(path, "rb") as file:
                        self.files[number] = Segment(number, file.read())
        self.mark = mark_record(os.path.join(folder, "lock"))
        if self.mark and self.mark.role == UNFINISHED_COPY:
            self._cut(self.mark)
        if at is not None:
            self._go_back(at)
        if not self.files and not self.mark:
            raise Refused("notAStore: the folder has no segment")
        self.newest = self._newest()
        self.segments = self._live_set(self.newest)
        self._read()

    def _cut(self, mark: "Mark") -> None:
        """F-220: what lies above the mark of a copy that is not finished means nothing."""
        if mark.lsn == 0:
            raise Refused("unfinished: the copy of the store was not finished")
        for number, segment in list(self.files.items()):
            if number > mark.segment and (segment.kind == MAIN or not segment.whole):
                del self.files[number]
            elif number == mark.segment and segment.whole and mark.lsn >= segment.base:
                self.files[number] = Segment(number, segment.data[:mark.lsn - segment.base])

    def _go_back(self, commit: int) -> None:
        """F-798: the log ends behind a commit, and nothing else is known."""
        self.mark = None
        mains = [one for one in self.files.values() if one.whole and one.kind == MAIN]
        before = [one for one in mains if one.commit < commit]
        if not before:
            raise Refused(f"the state after commit {commit} is not kept")
        for number in [one.number for one in mains if one.commit >= commit]:
            del self.files[number]
        last = before[-1]
        for number, segment in list(self.files.items()):
            if number > last.number and not segment.whole:
                del self.files[number]
        at, chain, mark = SEGMENT_HEADER, last.crc, 0
        while True:
            try:
                frame = last.read_frame(at, chain, mark, len(last.data))
            except Broken:
                raise Refused(f"the state after commit {commit} is not kept") from None
            at, chain, mark = frame.end, frame.crc, frame.mark
            if frame.kind == COMMIT and frame.commit == commit:
                break
        self.files[last.number] = Segment(last.number, last.data[:at])

    def payload(self, frame: Frame) -> bytes:
        return self.files[frame.segment].payload(frame)

    def _newest(self) -> Segment:
        """Step 2."""
        valid = [segment for segment in self.files.values() if segment.valid]
        if valid and isinstance(valid[-1].fault, Refused) and (valid[-1].version != VERSION or valid[-1].incompatible):
            raise valid[-1].fault
        newest: Optional[Segment] = None
        for segment in reversed(list(self.files.values())):
            if segment.whole and segment.kind == MAIN:
                newest = segment
                break
            if segment.broken and segment.fault:
                raise segment.fault
        if newest is None:
            if self.mark:
                raise Damaged(self.mark.segment, 0, "F-216", f"segment {self.mark.segment} is missing")
            raise Refused("unfinished: the creation of the store did not finish")
        return newest

    def _look_ahead(self) -> None:
        """What whole commits in the newest segment adopt and retire."""
        segment, at, chain, mark = self.newest, SEGMENT_HEADER, self.newest.crc, 0
        adopted: List[Part] = []
        retired: List[int] = []
        while True:
            try:
                frame = segment.read_frame(at, chain, mark, len(segment.data))
            except Broken:
                return
            try:
                if frame.kind == ADOPT:
                    adopted += decode_adopt(segment.payload(frame))
                elif frame.kind == RETIRE:
                    retired += decode_retire(segment.payload(frame))
            except Broken:
                pass  # judged when it counts
            if frame.kind == COMMIT:
                self.adopted += adopted
                self.retired |= set(retired)
                adopted, retired = [], []
            at, chain, mark = frame.end, frame.crc, frame.mark

    def _live_set(self, newest: Segment) -> List[Segment]:
        """Step 3."""
        assert newest.start is not None
        self._look_ahead()
        mains: List[Segment] = []
        for member in reversed(newest.start.live):
            segment = self.files.get(member.number)
            fault: Optional[Exception] = None
            if segment is None or not (segment.whole or segment.broken):
                fault = Damaged(member.number, 0, "F-216", f"segment {member.number} is missing or unfinished")
            elif segment.broken:
                fault = segment.fault
            elif segment.kind != member.kind or segment.store_id != newest.store_id:
                fault = Damaged(member.number, 0, "F-216", f"segment {member.number} is another one")
            if fault:
                if member.number not in self.retired:
                    raise fault
                continue
            assert segment is not None
            self.live[member.number] = member
            if member.kind == MAIN:
                mains.insert(0, segment)
        self.live[newest.number] = Member(newest.number, MAIN, 0, 0)
        mains.append(newest)
        named = [member.number for member in newest.start.live if member.kind == MAIN]
        if newest.predecessor != (named[-1] if named else 0):
            raise Damaged(newest.number, SEGMENT_HEADER, "F-216", "the live set is not the one before the segment")
        for segment in mains:
            if segment.start_commit != segment.commit:
                raise Damaged(segment.number, SEGMENT_HEADER, "F-218", "start frame and segment header differ")
        for before, after in zip(mains, mains[1:]):
            member = self.live[before.number]
            if after.predecessor == before.number:
                if (after.predecessor_end, after.predecessor_chain) != (member.end, member.chain):
                    raise Damaged(newest.number, SEGMENT_HEADER, "F-216", "the live set is not what headers say")
                if after.base != before.base + member.end:
                    raise Damaged(after.number, 0, "F-216", "the base LSN does not follow from the predecessor")
            elif after.predecessor < before.number or after.base < before.base + member.end:
                raise Damaged(newest.number, SEGMENT_HEADER, "F-216", "the live set is not what headers say")
        return mains

    def _read(self) -> None:
        """Steps 4 to 6."""
        fault: Optional[Broken] = None
        at = SEGMENT_HEADER
        index = 0
        while fault is None:
            segment, at = self.segments[index], SEGMENT_HEADER
            member = None if segment is self.newest else self.live[segment.number]
            limit = member.end if member else len(segment.data)
            chain, mark = segment.crc, 0
            while member is None or at < limit:
                try:
                    frame = segment.read_frame(at, chain, mark, limit)
                except Broken as broken:
                    fault = broken
                    break
                self.frames.append(frame)
                at, chain, mark = frame.end, frame.crc, frame.mark
            if fault is None:
                assert member is not None
                if chain != member.chain:
                    self.damage = Damaged(segment.number, at, "F-216", "the chain is not the one the successor states")
                    return
                index += 1
        segment = self.segments[index]
        failed = segment.base + at
        durable = max((frame.mark for frame in self.frames), default=0)
        if self.mark and self.mark.store_id == segment.store_id:
            durable = max(durable, self.mark.lsn)
        for other in self.files.values():  # unfinished ones: broken ones above the newest end the opening in step 2
            if other.valid_header and not other.whole and not other.broken and other.kind == MAIN \
                    and other.store_id == segment.store_id:
                durable = max(durable, other.base)
        for later in self.segments[index:]:
            for frame in headers_from(later.data, at if later is segment else SEGMENT_HEADER, later.number):
                if later.header_fault(frame) is None:
                    durable = max(durable, frame.mark)
        if failed < durable:  # F-642
            self.damage = Damaged(segment.number, at, fault.rule, f"{fault.what}, below the mark {durable}")
            return
        while self.frames[-1].kind not in (START, COMMIT, CLOSE):  # F-641
            self.frames.pop()
        assert self.newest.start is not None
        if not self.newest.start.schema_version and not any(frame.kind == COMMIT for frame in self.frames):
            raise Refused("unfinished: the creation of the store did not finish")

    def part(self, part: "Part") -> List[Frame]:
        """The frames of a part of a side segment (65.1)."""
        segment, at, chain, mark = self.files[part.segment], part.start, part.start_chain, 0
        frames: List[Frame] = []
        while at < part.end:
            try:
                frame = segment.read_frame(at, chain, mark, part.end)
                need(frame.kind in (SCHEMA, BLOCK, DEATHS, VALUE, METADATA, CHANGES, REDIRECTS) or bool(frame.flags & 0x80)
                     or frame.kind not in KIND_NAMES,
                     "F-655", "a side segment holds a frame of the log")
            except Broken as broken:
                raise Damaged(part.segment, at, broken.rule, broken.what) from None
            frames.append(frame)
            at, chain, mark = frame.end, frame.crc, frame.mark
        if chain != part.end_chain:
            raise Damaged(part.segment, at, "F-652", "the part ends with another chain")
        return frames


class Part(NamedTuple):
    segment: int
    start: int
    end: int
    start_chain: int
    end_chain: int


def decode_adopt(data: bytes) -> List[Part]:
    need(len(data) >= 8, "F-104", "the adopt frame is too short")
    count, zero = struct.unpack_from("<II", data)
    need(zero == 0, "F-103", "reserved bytes of the adopt frame are not zero")
    need(count >= 1 and len(data) == 8 + 32 * count, "F-651", "the parts do not fill the adopt frame")
    parts: List[Part] = []
    for segment, zero, start, end, start_chain, end_chain in struct.iter_unpack("<IIQQII", data[8:]):
        need(zero == 0, "F-103", "reserved bytes of a part are not zero")
        need(segment > (parts[-1].segment if parts else 0) and start % 8 == end % 8 == 0
             and SEGMENT_HEADER <= start < end < 1 << 62, "F-651", "a part is none")
        parts.append(Part(segment, start, end, start_chain, end_chain))
    return parts


def decode_retire(data: bytes) -> List[int]:
    need(len(data) >= 4, "F-104", "the retire frame is too short")
    count = int.from_bytes(data[:4], "little")
    need(count >= 1 and len(data) == 4 + 4 * count, "F-653", "the segments do not fill the retire frame")
    numbers = list(struct.unpack(f"<{count}I", data[4:]))
    need(all(a < b for a, b in zip([0] + numbers, numbers)), "F-653", "the segments do not rise")
    return numbers


UNFINISHED_COPY = 2
RELEASED = 3


class Mark(NamedTuple):
    store_id: bytes
    lsn: int
    segment: int
    role: int


def mark_record(path: str) -> Optional[Mark]:
    """F-213, but for the store id."""
    try:
        with open(path, "rb") as file:
            data = file.read(64)
    except OSError:
        return None
    if len(data) < 64 or data[:8] != b"CAIRNMRK" or crc32c(data[:60]) != int.from_bytes(data[60:], "little"):
        return None
    version, segment, identity, lsn, role, zero = struct.unpack_from("<II16s8xQ4xII", data, 8)
    return Mark(identity, lsn, segment, role) if version == VERSION and role <= RELEASED and zero == 0 else None


# Schema (70)

class Past(NamedTuple):
    """What stands for a cell in blocks of earlier versions (70.5)."""
    before: int
    value: Any


class Property(NamedTuple):
    id: int
    name: str
    kind: str
    column: int
    initial: Optional[Past]
    nils: List[Past]

    def stands_for(self, block: "Block", is_absent: bool) -> Any:
        """F-720: what an absent column, or nil, means in a block."""
        if is_absent and self.initial is not None and block.schema_version < self.initial.before:
            return self.initial.value
        return next((past.value for past in self.nils if past.before > block.schema_version), None)


class Entity(NamedTuple):
    id: int
    name: str
    tree: int
    abstract: bool
    properties: List[Property]


class Schema(NamedTuple):
    version: int
    entities: Dict[int, Entity]
    place: Tuple[int, int]
    next_entity: int = 0  # 0 as long as the model never changed
    next_properties: Dict[int, int] = {}  # by tree


def decode_schema(data: bytes, place: Tuple[int, int]) -> Schema:
    def no_constant(text: str) -> NoReturn:
        raise ValueError(text)

    def get(source: Any, key: str, kind: type, rule: str = "F-701") -> Any:
        need(type(source) is dict and type(source.get(key)) is kind, rule, f"the schema lacks a proper {key!r}")
        return source[key]

    def number(source: Any, key: str, rule: str, most: int = U32_MAX) -> int:
        value = get(source, key, int, rule)
        need(1 <= value <= most, rule, f"{key!r} is out of bounds in the schema")
        return int(value)

    def name(source: Any, rule: str) -> str:
        text = get(source, "name", str, rule)
        need(not any(0xD800 <= ord(c) <= 0xDFFF for c in text), rule, "a name in the schema is no Unicode text")
        return str(text)

    def past(source: Any, kind: str) -> Past:
        """F-717."""
        before = number(source, "before", "F-717")
        column = COLUMN_OF_KIND[kind]
        key = {INTEGER: "integer", DOUBLE: "double", FLOAT: "float", BYTES: "bytes", FIXED16: "bytes"}[column]
        need(2 <= before <= version and set(source) == {"before", key}, "F-717", "what stood for a cell is none of its column")
        value = get(source, key, str if key == "bytes" else int, "F-717")
        try:
            if key == "integer":
                struct.pack("<q", value)
            elif key == "bytes":
                value = base64.b64decode(value, validate=True)
            else:
                value = struct.unpack(*(("<d", struct.pack("<Q", value)) if key == "double" else ("<f", struct.pack("<I", value))))[0]
        except (ValueError, struct.error):
            raise Broken("F-717", "what stood for a cell is none of its column") from None
        need(key != "bytes" or (len(value) == 16 if column == FIXED16 else len(value) <= 1 << 20), "F-717", "what stood for a cell is none of its column")
        PRINTERS[kind](value)
        return Past(before, value)

    try:
        top = json.loads(data.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError):  # the decoders' errors are ValueErrors
        raise Broken("F-701", "the schema is no JSON in UTF-8") from None
    need(type(top) is dict, "F-701", "the schema is no object")
    need(get(top, "format", int, "F-702") == VERSION, "F-702", f"the format of the schema is not {VERSION}")
    version = number(top, "version", "F-702")
    entities: Dict[int, Entity] = {}
    kinds: Dict[Tuple[int, int], str] = {}
    targets: List[Any] = []
    parents: Dict[int, Any] = {}
    for source in get(top, "entities", list):
        entity = Entity(number(source, "id", "F-703"), name(source, "F-703"), number(source, "tree", "F-703"),
                        get(source, "abstract", bool), [])
        need(entity.id not in entities, "F-703", "two entities have one id")
        need(all(entity.name != other.name for other in entities.values()), "F-703", "two entities have one name")
        references, ids, names = set(), set(), set()
        for item in get(source, "properties", list):
            kind, column = get(item, "kind", str, "F-705"), get(item, "column", str, "F-705")
            need(kind in COLUMN_OF_KIND and COLUMN_NAMES.get(column) == COLUMN_OF_KIND[kind],
                 "F-705", "a property's column is not the one of its kind")
            nils = [past(one, kind) for one in (get(item, "nils", list, "F-717") if "nils" in item else [])]
            need(all(a.before < b.before for a, b in zip(nils, nils[1:])), "F-717", "versions do not rise")
            new = Property(number(item, "id", "F-704", MAX_PROPERTY), name(item, "F-704"), kind, COLUMN_NAMES[column],
                           past(item["initial"], kind) if "initial" in item else None, nils)
            need("next" in top or not new.nils and new.initial is None, "F-716", "a schema without a past has earlier cells")
            get(item, "optional", bool)
            need(new.id not in ids and new.name not in names, "F-704", "two properties have one id or name")
            need(kinds.setdefault((entity.tree, new.id), kind) == kind, "F-704", "one property id has two kinds")
            ids.add(new.id)
            names.add(new.name)
            if kind == "reference":
                targets.append(get(item, "target", int, "F-706"))
                references.add(new.name)
            entity.properties.append(new)
        if get(source, "hidden", bool):
            need({"source", "destination"} <= references, "F-707", "a hidden entity lacks its references")
        constraints = source.get("constraints", [])
        need(type(constraints) is list and all(
            type(one) is list and all(type(n) is str and n in names for n in one) for one in constraints),
            "F-708", "a constraint names no property")
        texts = {new.name for new in entity.properties if new.kind == "string"}
        for rule in get(source, "rules", list) if "rules" in source else []:
            ruled = get(rule, "names", list)
            need(len(ruled) > 0 and all(type(n) is str and n in names for n in ruled),
                 "F-712", "a constraint with options names no property")
            folds = [get(rule, key, bool) for key in ("nilsAreEqual", "ignoresCase", "ignoresDiacritics")][1:]
            need(not any(folds) or not texts.isdisjoint(ruled), "F-713", "a constraint that folds texts has none")
            need(type(rule.get("where", "")) is str, "F-701", "the condition of a constraint is no text")
        entities[entity.id], parents[entity.id] = entity, source.get("parent")
    trees = {entity.tree for entity in entities.values()}
    need(all(target in trees for target in targets), "F-706", "a reference has no target")
    for start in entities:
        seen: Set[int] = set()
        at = start
        while parents[at] is not None:
            parent = parents[at]
            need(type(parent) is int and parent in entities and entities[parent].tree == entities[at].tree
                 and parent not in seen, "F-703", "a parent is none, or parents do not end")
            seen.add(parent)
            at = parent
    if "next" not in top:
        return Schema(version, entities, place)
    following: Dict[int, int] = {}  # F-718
    for one in get(top["next"], "properties", list, "F-718"):
        tree = number(one, "tree", "F-718")
        need(tree not in following, "F-718", "a tree has two next properties")
        following[tree] = number(one, "next", "F-718")
    next_entity, next_tree = (number(top["next"], key, "F-718") for key in ("entity", "tree"))
    need(all(entity.id < next_entity and entity.tree < next_tree
             and all(item.id < following.get(entity.tree, 0) for item in entity.properties)
             for entity in entities.values()), "F-718", "what comes next has no numbers above those in use")
    return Schema(version, entities, place, next_entity, following)


# Metadata (75)

METADATA_BIT = 1  # F-755
HISTORY_BIT = 4  # F-777
REDIRECTS_BIT = 8  # F-785
PAST_BIT = 16  # F-797
MIGRATED_BIT = 1  # F-719, of the incompatible word
PACKED_BIT = 2  # F-570, of the incompatible word


class Metadata(NamedTuple):
    segment: int
    revision: int
    document: Dict[str, Any]


def decode_metadata(data: bytes, segment: int) -> Metadata:
    need(len(data) >= 8, "F-104", "the metadata frame is too short")
    revision = int.from_bytes(data[:8], "little")
    need(1 <= revision < 1 << 62 and len(data) > 8, "F-751", "metadata lack a revision or a document")

    def no_constant(text: str) -> NoReturn:
        raise ValueError(text)

    def whole(value: Any, low: int, high: int) -> bool:
        return type(value) is int and low <= value <= high

    def is_uuid(value: Any) -> bool:
        return type(value) is str and re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", value) is not None

    def fits(value: Any) -> bool:
        if type(value) is not dict or len(value) != 1:
            return False
        (kind, inner), = value.items()
        if kind in ("string", "uri", "decimal"):
            return type(inner) is str
        if kind == "binary":
            try:
                return type(inner) is str and base64.b64decode(inner, validate=True) is not None
            except ValueError:
                return False
        return {"uuid": is_uuid(inner), "boolean": type(inner) is bool, "integer": whole(inner, -1 << 63, (1 << 63) - 1),
                "double": whole(inner, 0, (1 << 64) - 1), "date": whole(inner, 0, (1 << 64) - 1),
                "float": whole(inner, 0, U32_MAX)}.get(kind, False)

    def is_commit(value: Any) -> bool:
        return whole(value, 0, (1 << 62) - 1)

    try:
        top = json.loads(data[8:].decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Broken("F-752", "the metadata are no JSON in UTF-8") from None
    need(type(top) is dict and type(top.get("format")) is int and top["format"] == VERSION, "F-752",
         f"the format of the metadata is not {VERSION}")
    need(top.get("identifier") is None or is_uuid(top["identifier"]), "F-752", "the identifier is no UUID")
    need(type(top.get("values")) is dict and all(fits(value) for value in top["values"].values()), "F-752",
         "a value in the metadata is of no known kind")
    history = top.get("history")
    if history is not None:
        need(type(history) is dict and type(history.get("tracking")) is bool and type(history.get("horizon")) is int
             and (history.get("consumers") is None or type(history["consumers"]) is dict), "F-752", "the history is none")
        seen = (history.get("consumers") or {}).values()
        need(all(type(one) is int for one in seen), "F-752", "a consumer of the history has seen no commit")
        need(is_commit(history["horizon"]) and all(is_commit(one) for one in seen), "F-778",
             "the history's commits are impossible")
    past = top.get("asOf")
    if past is not None:
        need(type(past) is dict and type(past.get("horizon")) is int and type(past.get("held", [])) is list
             and all(type(past.get(key, 0)) is int for key in ("transactions", "seconds")), "F-752", "the past states are none")
        held = past.get("held", [])
        need(all(type(one) is dict and all(type(one.get(key)) is int for key in ("segment", "commit", "time")) for one in held),
             "F-752", "a segment that is held is none")
        most = (1 << 53) - 1
        need(is_commit(past["horizon"]) and not ("transactions" in past and "seconds" in past)
             and all(whole(past.get(key, 0), 0, most) for key in ("transactions", "seconds"))
             and all(whole(one["segment"], 1, U32_MAX) and is_commit(one["commit"]) and one["commit"] > 0
                     and whole(one["time"], -most, most) for one in held)
             and all(one["segment"] < other["segment"] for one, other in zip(held, held[1:])),
             "F-791", "what is kept of past states is impossible")
    return Metadata(segment, revision, top)


# History (77)

class Entry(NamedTuple):
    entity: int
    operation: int
    properties: List[Tuple[int, int]]
    numbers: List[Tuple[int, int]]  # first and last of each run
    values: List[Any]


class Changes(NamedTuple):
    commit: int
    time: float
    process: int
    part: int
    is_last: bool
    names: List[str]  # author, context, program
    entries: List[Entry]


def decode_changes(data: bytes) -> Changes:
    need(len(data) >= 40, "F-104", "the changes frame is too short")
    commit, time, process, part, last, author, context, program, zero, count = struct.unpack_from("<QdIIIHHHHI", data)
    need(zero == 0, "F-103", "reserved bytes of the changes frame are not zero")
    need(1 <= commit < 1 << 62 and last <= 1 and count >= 1 and (part == 0 or author == context == program == 0),
         "F-771", "the head of the changes contradicts itself")
    at, names = 40, []
    for length in (author, context, program):
        need(length <= 4096, "F-771", "a name in the changes is too long")
        try:
            names.append(take(data, at, length).decode("utf-8"))
        except UnicodeDecodeError:
            raise Broken("F-771", "a name in the changes is not UTF-8") from None
        at += length
    need(count * 16 <= len(data) - at, "F-772", "the number of entries is impossible")
    entries = []
    for _ in range(count):
        entry, at = decode_entry(data, at)
        entries.append(entry)
    need(at == len(data), "F-104", "the changes frame has bytes behind its entries")
    return Changes(commit, time, process, part, last == 1, names, entries)


def decode_entry(data: bytes, at: int) -> Tuple[Entry, int]:
    need(len(data) - at >= 16, "F-104", "the changes frame is too short")
    entity, operation, zero, property_count, run_count, value_bytes = struct.unpack_from("<IBBHII", data, at)
    at += 16
    need(zero == 0, "F-103", "reserved bytes of an entry are not zero")
    need(entity >= 1 and operation >= 1 and run_count >= 1
         and property_count * 8 + run_count * 2 + value_bytes <= len(data) - at, "F-772", "an entry contradicts itself")
    properties = [struct.unpack_from("<II", data, at + 8 * index) for index in range(property_count)]
    at += 8 * property_count

    def number() -> int:
        nonlocal at
        found = 0
        for shift in range(0, 35, 7):
            byte = take(data, at, 1)[0]
            at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                need((byte != 0 or shift == 0) and found <= U32_MAX, "F-772", "a number has no such form")
                return found
        raise Broken("F-772", "a number has no such form")

    runs: List[Tuple[int, int]] = []
    before = 0
    for index in range(run_count):
        first = before + number()
        final = first + number()
        need(first > (before + 1 if index else 0) and final <= 0xFFFFFFFE, "F-772", "the numbers of objects do not rise")
        runs.append((first, final))
        before = final
    objects = sum(final - first + 1 for first, final in runs)
    end = at + value_bytes
    need(end <= len(data), "F-104", "the changes frame is too short")
    is_kept = operation == 3 and property_count > 0
    need((is_kept or value_bytes == 0 or operation > 3) and (operation not in (1, 4) or property_count == 0), "F-773",
         "only what is deleted has values")
    values: List[Any] = []
    if operation == 4:
        need(value_bytes == 4 * objects, "F-773", "each object is led to another one")
        values = list(struct.unpack_from(f"<{objects}I", data, at))
        need(all(1 <= one <= MAX_NUMBER for one in values), "F-773", "an object is led to an impossible number")
    if is_kept:
        need(objects * property_count <= value_bytes, "F-773", "values of deleted objects are missing")
        for _ in range(objects * property_count):
            kind = take(data, at, 1)[0]
            at += 1
            need(kind <= 6, "F-773", "a value of a deleted object has no known kind")
            if kind in (1, 2, 3):
                size, form = {1: (8, "<q"), 2: (8, "<d"), 3: (4, "<f")}[kind]
                values.append(struct.unpack(form, take(data, at, size))[0])
                at += size
            elif kind in (4, 5):
                size = 16
                if kind == 4:
                    size, = struct.unpack("<I", take(data, at, 4))
                    at += 4
                values.append(base64.b64encode(take(data, at, size)).decode("ascii"))
                at += size
            else:
                values.append(None if kind == 0 else {"notKept": True})
        need(at == end, "F-773", "bytes follow the values of deleted objects")
    return Entry(entity, operation, [(one[0], one[1]) for one in properties], runs, values), end


# Blocks and columns (40, 50)

class Column(NamedTuple):
    kind: int
    values: Sequence[Any]  # None where the row is nil
    external: Set[int]  # slots whose cell refers to a large value
    stored: int  # bytes of the slice
    has_external: bool  # its flag


class Block(NamedTuple):
    frame: Frame
    index: int  # of the frame in the log
    entity: int
    tree: int  # in the schema that it was decoded with; 0 if that has no such entity any more
    schema_version: int
    rows: int
    columns: Dict[int, Column]
    dead: Set[int]
    base: Optional[Tuple[int, int]] = None  # of a patch
    is_packed: bool = False


def bits(data: bytes, rows: int, rule: str) -> Set[int]:
    value = int.from_bytes(data, "little")
    need(value >> rows == 0, rule, "a bitmap has bits behind the last row")
    return {row for row in range(rows) if value >> row & 1} if value else set()


def take(data: bytes, at: int, count: int) -> bytes:
    need(count <= len(data) - at, "F-414", "a slice is too short")
    return data[at:at + count]


def narrow(data: bytes, n: int) -> Tuple[int, int, Sequence[int]]:
    """50.4: base, width and values."""
    base, width = struct.unpack("<qB", take(data, 0, 9))
    need(width in (0, 1, 2, 4, 8), "F-510", "a width is unknown")
    need(len(data) == 9 + n * width, "F-414", "a narrow body does not fill its slice")
    if width == 0:
        return base, width, [base] * n
    if width == 8:
        need(base == 0, "F-510", "width 8 has a base")
        return base, width, struct.unpack_from(f"<{n}q", data, 9)
    distances = struct.unpack_from(f"<{n}{UNSIGNED[width]}", data, 9)
    need(base + max(distances) < 1 << 63, "F-511", "a value is over 64 bits")
    return base, width, [base + distance for distance in distances]


def lengths(data: bytes, n: int) -> List[bytes]:
    """50.9."""
    base, width = struct.unpack("<IB", take(data, 0, 5))
    need(width in (0, 1, 2, 4), "F-530", "a width is unknown")
    at = 5 + n * width
    table = take(data, 5, n * width)
    sizes = [base + d for d in struct.unpack(f"<{n}{UNSIGNED[width]}", table)] if width else [base] * n
    need(sum(sizes) == len(data) - at, "F-530", "the lengths of the cells do not add up")
    cells = []
    for size in sizes:
        cells.append(data[at:at + size])
        at += size
    return cells


def dictionary(data: bytes, n: int) -> List[bytes]:
    """50.10."""
    count, width = struct.unpack("<HB", take(data, 0, 3))
    need(1 <= count <= n and width == (0 if count == 1 else 1 if count <= 256 else 2),
         "F-531", "a dictionary's count and width do not agree")
    split = len(data) - n * width
    need(split >= 3, "F-414", "a slice is too short")
    entries = lengths(data[3:split], count)
    codes = struct.unpack(f"<{n}{UNSIGNED[width]}", data[split:]) if width else (0,) * n
    need(max(codes) < count, "F-532", "a code is over the dictionary")
    return [entries[code] for code in codes]


def packed(data: bytes, at: int, n: int, width: int) -> Tuple[List[int], int]:
    """50.13: packed numbers, and where they end."""
    size = (n * width + 7) // 8
    piece = take(data, at, size + 8)
    whole = int.from_bytes(piece, "little")
    need(whole >> (n * width) == 0, "F-560", "there is something behind packed numbers")
    mask = (1 << width) - 1
    # Eight rows at a time: cutting up one very large number takes quadratic time.
    numbers = []
    for row in range(0, n, 8):
        few = int.from_bytes(piece[row * width // 8:(row + 8) * width // 8 + 1], "little")
        numbers += [few >> (i * width) & mask for i in range(min(8, n - row))]
    return numbers, at + size + 8


def packed_values(data: bytes, n: int) -> Tuple[int, int, int, List[int], Dict[int, bytes], int]:
    """50.14: base, width, scale or shift, numbers, exceptions by row, and the largest number."""
    base, width, detail, count = struct.unpack("<qBBH", take(data, 0, 12))
    need(width <= 64 and count <= n and (count == 0 or width > 0), "F-561", "a width is over 64")
    rows = struct.unpack(f"<{count}H", take(data, 12, 2 * count))
    need(all(a < b for a, b in zip(rows, rows[1:])) and all(row < n for row in rows),
         "F-561", "exceptions are not in order")
    at = 12 + 2 * count
    values = take(data, at, 8 * count)
    numbers, end = packed(data, at + 8 * count, n, width)
    need(end == len(data), "F-414", "a packed body does not fill its slice")
    largest = (1 << width) - 1
    need(count == 0 or [row for row in range(n) if numbers[row] == largest] == list(rows),
         "F-561", "the exceptions are others than the numbers say")
    return base, width, detail, numbers, {row: values[8 * i:8 * i + 8] for i, row in enumerate(rows)}, largest


def places(data: bytes, at: int, n: int) -> Tuple[List[int], int]:
    """50.15: n + 1 places, and where the bytes begin."""
    base, step, width = struct.unpack("<iIB", take(data, at, 9))
    need(width <= 32, "F-563", "a width is over 32")
    numbers, end = packed(data, at + 9, n + 1, width)
    found = [base + i * step + number for i, number in enumerate(numbers)]
    need(found[0] == 0 and all(a <= b for a, b in zip(found, found[1:])) and found[-1] == len(data) - end,
         "F-563", "the places do not rise from 0 to the end of the slice")
    return found, end


def cut(data: bytes, at: int, n: int) -> List[bytes]:
    found, start = places(data, at, n)
    return [data[start + a:start + b] for a, b in zip(found, found[1:])]


def packed_dictionary(data: bytes, n: int) -> List[bytes]:
    """50.17."""
    count, width = struct.unpack("<HB", take(data, 0, 3))
    need(1 <= count <= n and width == (count - 1).bit_length(), "F-567", "a dictionary's count and width do not agree")
    codes, at = packed(data, 3, n, width)
    entries = cut(data, at, count)
    need(max(codes) < count, "F-567", "a code is over the dictionary")
    return [entries[code] for code in codes]


def symbols(data: bytes, n: int) -> Tuple[List[bytes], int]:
    """50.16: cells, and how many bytes more they are than their codes."""
    count, size = struct.unpack("<BH", take(data, 0, 3))
    entries = struct.unpack(f"<{count}H", take(data, 3, 2 * count))
    at = 3 + 2 * count
    table = take(data, at, size)
    need(take(data, at + size, 8) == bytes(8), "F-103", "there is something behind the symbols")
    need(count <= 255 and all(1 <= entry & 15 <= 8 and (entry >> 4) + (entry & 15) <= size for entry in entries),
         "F-565", "a symbol is outside the table")
    known = [table[entry >> 4:(entry >> 4) + (entry & 15)] for entry in entries]
    cells, more = [], 0
    for codes in cut(data, at + size + 8, n):
        cell, i = bytearray(), 0
        while i < len(codes):
            if codes[i] < count:
                cell += known[codes[i]]
                i += 1
            else:
                need(codes[i] == 255 and i + 1 < len(codes), "F-566", "a code stands for no symbol")
                cell.append(codes[i + 1])
                i += 2
        cells.append(bytes(cell))
        more += len(cell) - len(codes)
    return cells, more


def decode_packed(kind: int, encoding: int, data: bytes, n: int) -> Sequence[Any]:
    if encoding == TEXTS:
        return cut(data, 0, n)
    if encoding == PACKED_DICTIONARY:
        return packed_dictionary(data, n)
    base, width, detail, numbers, exceptions, largest = packed_values(data, n)
    values: List[Any]
    if encoding == PACKED:
        need(detail == 0, "F-561", "packed integers have a scale or shift")
        values = [base + number for number in numbers]
        need(all(row in exceptions or value < 1 << 63 for row, value in enumerate(values)), "F-568", "a value is over 64 bits")
        code = "q"
    elif encoding == PACKED_DECIMALS:
        need(detail <= 9 and -1 << 53 <= base and base + largest <= 1 << 53, "F-562", "a packed decimal is out of bounds")
        values = [float(base + number) / float(10 ** detail) for number in numbers]
        code = "d"
    else:
        need(detail < 64, "F-561", "a shift is over 63")
        size = 8 if kind == DOUBLE else 4
        code = "d" if kind == DOUBLE else "f"
        values = [struct.unpack(f"<{code}", (base + (number << detail) & (1 << 8 * size) - 1).to_bytes(size, "little"))[0]
                  for number in numbers]
    for row, value in exceptions.items():
        values[row] = struct.unpack(f"<{code}", value[:struct.calcsize(code)])[0]
    return values


def decode_body(kind: int, encoding: int, data: bytes, n: int, nils: bool) -> Sequence[Any]:
    if encoding >= PACKED:
        return decode_packed(kind, encoding, data, n)
    if encoding == NARROW:
        return narrow(data, n)[2]
    if encoding == SEQUENCE:
        need(not nils, "F-512", "a sequence has nils")
        need(len(data) == 16, "F-414", "a sequence does not fill its slice")
        first, step = struct.unpack("<qq", data)
        need(all(-1 << 63 <= x < 1 << 63 for x in ((n - 1) * step, first + (n - 1) * step)),
             "F-512", "a sequence is over 64 bits")
        return [first + row * step for row in range(n)]
    if encoding == SCALED:
        scale = take(data, 0, 1)[0]
        need(scale <= 9, "F-521", "a scale is over 9")
        base, width, values = narrow(data[1:], n)
        need(width != 8 and -1 << 53 <= base <= (1 << 53) - U32_MAX, "F-521", "a scaled body is out of bounds")
        divisor = float(10 ** scale)
        return [float(value) / divisor for value in values]
    if encoding == LENGTHS:
        return lengths(data, n)
    if encoding == DICTIONARY:
        return dictionary(data, n)
    size, code = {DOUBLE: (8, "d"), FLOAT: (4, "f"), FIXED16: (16, "")}[kind]
    if encoding == CONSTANT:
        need(not nils, "F-522", "a constant column has nils")
        need(len(data) == size, "F-414", "a constant does not fill its slice")
        return [data if kind == FIXED16 else struct.unpack(f"<{code}", data)[0]] * n
    need(len(data) == n * size, "F-414", "a body does not fill its slice")
    if encoding == PLAIN:
        return [data[16 * row:16 * row + 16] for row in range(n)]
    joined = bytearray(len(data))  # planes, 50.6
    for plane in range(size):
        joined[plane::size] = data[plane * n:plane * n + n]
    return struct.unpack(f"<{n}{code}", joined)


def decode_patch(data: bytes, frame: Frame, index: int, schemas: Sequence[Schema],
                 blocks: Dict[Tuple[int, int], Block]) -> Block:
    """45: a block with all columns; with those of the patch alone if its base is not there."""
    need(len(data) >= 24, "F-451", "the patch is too short")
    segment, offset, borrowed, flags, zero, crc = struct.unpack_from("<IIIIII", data)
    need(crc32c(data[:20]) == crc, "F-451", "the checksum of the patch's head is wrong")
    need(zero == 0 and flags & ~1 == 0 and segment != 0, "F-452", "the patch has unknown flags or no base")
    patch = decode_block(data[24:], frame, index, schemas, True)
    place = (segment, offset * 8)
    base = blocks.get(place)
    if base is None:
        return patch._replace(base=place)
    need(base.base is None and base.frame.kind == BLOCK and (base.entity, base.schema_version, base.rows)
         == (patch.entity, patch.schema_version, patch.rows), "F-454", "the patch is of another block than it says")
    others = {item: column for item, column in base.columns.items() if item not in patch.columns}
    need(borrowed == sum(column.stored for column in others.values())
         and flags == any(column.has_external for column in others.values()), "F-455", "the patch borrows something else")
    return patch._replace(base=place, columns={**others, **patch.columns})


def decode_block(data: bytes, frame: Frame, index: int, schemas: Sequence[Schema], is_patch: bool = False) -> Block:
    need(len(data) >= 24, "F-104", "the block is too short")
    entity_id, schema_version, rows, count, flags, zero, raw_length, crc = struct.unpack_from("<IIHHHHII", data)
    at = 24 + 20 * count
    need(at <= len(data), "F-104", "the block ends inside its column table")
    need(crc32c(data[:20] + data[24:at]) == crc, "F-401", "the checksum of the block's head is wrong")
    need(1 <= rows <= 1024, "F-402", "the block has no or too many rows")
    need(flags & ~1 == 0 and entity_id != 0, "F-403", "the block has unknown flags or no entity")
    need(zero == 0, "F-103", "reserved bytes of the block are not zero")
    table = list(struct.iter_unpack("<IBBBBIII", data[24:at]))
    need(all(a[0] < b[0] for a, b in zip(table, table[1:])), "F-404", "columns are not in rising order")
    need(at + sum(entry[5] for entry in table) == len(data), "F-405", "the slices do not fill the block")
    need(raw_length == sum(entry[6] for entry in table) and raw_length <= PAYLOAD_LIMIT,
         "F-406", "the block's raw length is wrong or over the limit")
    hidden = [ROW_VERSION] if is_patch else [OBJECT_NUMBER, ROW_VERSION]
    need([entry[0] for entry in table if entry[0] >= OBJECT_NUMBER] == hidden and not (is_patch and flags)
         and all(entry[1] == INTEGER and not entry[3] & 1 for entry in table[-len(hidden):]),
         "F-453" if is_patch else "F-407", "the block lacks its hidden columns")
    # F-415: the schema that the rows were written with is the last one not above the version that the block says.
    need(bool(schemas) and schema_version <= schemas[-1].version, "F-415", "the block is of a later schema")
    own = ([schema for schema in schemas if schema.version <= schema_version] or list(schemas[:1]))[-1]
    entity = own.entities.get(entity_id)
    is_earlier = own.version > schema_version  # what it was written with is not known any more: 70.5
    if entity is None and not (is_earlier and entity_id < own.next_entity):  # F-722
        raise Broken("F-415", "the block's entity is no concrete entity of the schema")
    need(entity is None or is_earlier or not entity.abstract, "F-415", "the block's entity is no concrete entity of the schema")
    kinds = {item.id: item.column for item in entity.properties} if entity else {}
    kinds[OBJECT_NUMBER] = kinds[ROW_VERSION] = INTEGER
    next_property = own.next_properties.get(entity.tree, 0) if entity else MAX_PROPERTY + 1
    columns: Dict[int, Column] = {}
    for property_id, kind, encoding, flags, zero, stored, raw, crc in table:
        need(zero == 0, "F-103", "reserved bytes of the column table are not zero")
        need(encoding in ENCODINGS.get(kind, ()) and flags & ~7 == 0 and (not flags & 4 or encoding in (LENGTHS, TEXTS))
             and not (flags & 2 and encoding >= PACKED), "F-409", "kind, encoding and flags of a column do not go together")
        need(stored < raw if flags & 2 or encoding == SYMBOLS else stored == raw,
             "F-412", "stored and raw length of a slice disagree")
        need(rows >= 32 or not flags & 2 and encoding < PACKED, "F-413", "a slice of a small block is compressed or packed")
        need(kinds.get(property_id) == kind
             or is_earlier and (property_id not in kinds and property_id < next_property  # F-722
                                or kinds.get(property_id) == DOUBLE and kind == FLOAT),  # F-721
             "F-415", "a column is not of a property of the entity")
        piece = data[at:at + stored]
        at += stored
        need(crc32c(piece) == crc, "F-410", "the checksum of a slice is wrong")
        if flags & 2:
            piece = lz4_block(piece, raw)
        bitmap = (rows + 7) // 8
        nil, external, begin = set(), set(), 0
        if flags & 1:
            nil, begin = bits(take(piece, 0, bitmap), rows, "F-501"), bitmap
        if flags & 4:
            external, begin = bits(take(piece, begin, bitmap), rows, "F-502"), begin + bitmap
        if encoding == SYMBOLS:
            values, more = symbols(piece[begin:], rows)
            need(stored + more == raw, "F-569", "the symbols do not give as many bytes as the table of columns says")
        else:
            values = decode_body(kind, encoding, piece[begin:], rows, bool(flags & 1))
        need(not nil & external and all(len(values[row]) == 24 for row in external),
             "F-502", "a reference to a large value is nil or has not 24 bytes")
        if nil:
            values = [None if row in nil else value for row, value in enumerate(values)]
        columns[property_id] = Column(kind, values, external, stored, bool(flags & 4))
    for item, most in ((OBJECT_NUMBER, MAX_NUMBER), (ROW_VERSION, MAX_VERSION))[-len(hidden):]:
        values = columns[item].values
        need(1 <= min(values) and max(values) <= most, "F-407", "an object number or row version is out of bounds")
    return Block(frame, index, entity_id, entity.tree if entity else 0, schema_version, rows, columns, set(),
                 is_packed=any(entry[2] >= PACKED for entry in table))


# Commits, deaths and content (60)

class Death(NamedTuple):
    place: Tuple[int, int]
    form: int
    dead: int
    data: bytes


def decode_deaths(data: bytes) -> List[Death]:
    need(len(data) >= 8, "F-104", "the deaths frame is too short")
    count, zero = struct.unpack_from("<II", data)
    need(zero == 0, "F-103", "reserved bytes of the deaths frame are not zero")
    need(1 <= count <= (len(data) - 8) // 16, "F-611", "the number of deaths does not fit")
    deaths, at = [], 8
    for _ in range(count):
        need(len(data) - at >= 16, "F-104", "the deaths frame is too short")
        segment, offset, form, zero, dead, length, zeros = struct.unpack_from("<IIBBHHH", data, at)
        at += 16
        need(zero == zeros == 0, "F-103", "reserved bytes of a death are not zero")
        need(length <= len(data) - at, "F-104", "the deaths frame is too short")
        piece = data[at:at + length]
        at += length
        agree = {1: length == 0, 2: length == 2 * dead, 3: True}.get(form, False)
        need(segment != 0 and agree and 1 <= dead <= 1024, "F-612", "a death's form is not kept")
        if form == 2:
            slots = struct.unpack(f"<{dead}H", piece)
            need(slots[-1] < 1024 and all(a < b for a, b in zip(slots, slots[1:])), "F-612", "slots do not rise")
        elif form == 3:
            need(bin(int.from_bytes(piece, "little")).count("1") == dead, "F-612", "a bitmap names other rows")
        deaths.append(Death((segment, offset * 8), form, dead, piece))
    need(at == len(data), "F-104", "the deaths frame has bytes behind its entries")
    return deaths


def decode_commit(data: bytes) -> Tuple[int, int, List[Tuple[int, int]]]:
    """First LSN, frame count and counters."""
    need(len(data) >= 56, "F-104", "the commit frame is too short")
    first, count, trees, author, context, zero = struct.unpack_from("<QII32xHHI", data)
    need(zero == 0, "F-103", "reserved bytes of the commit frame are not zero")
    need(author <= 4096 and context <= 4096, "F-606", "author or context is too long")
    middle = 56 + 16 * trees
    need(len(data) == middle + author + context, "F-104", "the commit frame has another length than it says")
    counters = decode_counters(data[56:middle])
    try:
        data[middle:middle + author].decode("utf-8")
        data[middle + author:].decode("utf-8")
    except UnicodeDecodeError:
        raise Broken("F-606", "author or context is not UTF-8") from None
    return first, count, counters


def decode_close(data: bytes) -> List[Tuple[int, int]]:
    need(len(data) >= 16, "F-104", "the close frame is too short")
    trees, zero = struct.unpack_from("<II", data, 8)
    need(zero == 0, "F-103", "reserved bytes of the close frame are not zero")
    need(len(data) == 16 + 16 * trees, "F-104", "the close frame has another length than its count says")
    return decode_counters(data[16:])


class ValueHead(NamedTuple):
    tree: int
    number: int
    property: int
    sequence: int
    total: int
    begin: int


def decode_value(data: bytes) -> ValueHead:
    need(len(data) >= 32, "F-104", "the value frame is too short")
    head = ValueHead(*struct.unpack_from("<IIIIQQ", data))
    need(len(data) > 32 and head.begin + len(data) - 32 <= head.total, "F-633", "a piece is empty or too long")
    need((head.sequence == 0) == (head.begin == 0), "F-633", "a piece's sequence and offset disagree")
    return head


# Redirects (78)

class Redirect(NamedTuple):
    new: int
    turn: int
    segment: int


def decode_redirects(data: bytes, segment: int) -> Dict[Tuple[int, int], Redirect]:
    need(len(data) >= 8, "F-104", "the redirects frame is too short")
    count, zero = struct.unpack_from("<II", data)
    need(zero == 0, "F-103", "reserved bytes of the redirects frame are not zero")
    need(count >= 1, "F-781", "a redirects frame has no entries")
    found: Dict[Tuple[int, int], Redirect] = {}
    at, last_tree = 8, 0
    for _ in range(count):
        need(len(data) - at >= 8, "F-104", "the redirects frame is too short")
        tree, entries = struct.unpack_from("<II", data, at)
        at += 8
        need(tree > last_tree and entries >= 1 and 12 * entries <= len(data) - at, "F-781",
             "the redirects of a tree contradict themselves")
        last, last_tree = 0, tree
        for _ in range(entries):
            old, new, turn = struct.unpack_from("<III", data, at)
            at += 12
            need(last < old <= MAX_NUMBER and new <= MAX_NUMBER and new != old and turn >= 1, "F-781",
                 "a redirect contradicts itself")
            found[tree, old] = Redirect(new, turn, segment)
            last = old
    need(at == len(data), "F-104", "the redirects frame has bytes behind its entries")
    return found


class Content:
    """Step 7, 60.6 and 65: the payloads of side segments and of all frames below the end, in order."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.schemas: List[Schema] = []
        self.blocks: Dict[Tuple[int, int], Block] = {}
        self.counters: Dict[int, int] = {}
        self.frames: List[Frame] = []  # in the order in which they are looked at
        self.values: Dict[int, ValueHead] = {}  # by index in frames
        self.index_of: Dict[Tuple[int, int], int] = {}
        self.last_commit = 0
        self.metadata: Optional[Metadata] = None
        self.last_revision = 0  # in main segments
        self.live = dict(log.live)
        self.gone: Set[int] = set()
        self.open: List[Frame] = []  # frames of the commit whose commit frame is to come
        self.open_blocks: List[int] = []
        self.open_deaths: List[Tuple[Frame, List[Death]]] = []
        self.open_metadata: List[Metadata] = []
        self.history: Dict[int, Tuple[int, List[Changes]]] = {}  # by commit: segment and parts
        self.open_history: List[Tuple[Frame, Changes]] = []
        self.redirects: Dict[Tuple[int, int], Redirect] = {}  # by tree and number
        self.open_redirects: List[Dict[Tuple[int, int], Redirect]] = []
        self.open_changes: List[Tuple[Frame, List[Part], List[int]]] = []  # what it adopts and retires
        start = log.newest.start
        assert start is not None
        self.has_schema = start.schema_version != 0
        if self.has_schema:
            self.schemas.append(self._schema_in_force(start))
        early: List[int] = []
        late: List[Tuple[Frame, List[Death]]] = []
        for member in start.live:
            if member.kind == SIDE and member.number in log.live:
                for frame in log.part(Part(member.number, SEGMENT_HEADER, member.end, log.files[member.number].crc,
                                           member.chain)):
                    index = self._note(frame)
                    if frame.kind == BLOCK:
                        early.append(index)
                    elif frame.kind == DEATHS:
                        late.append((frame, self._at(frame, decode_deaths, log.payload(frame))))
                    elif frame.kind == METADATA:
                        self._keep(self._at(frame, self._read_metadata, frame))
                    elif frame.kind == CHANGES:
                        self._at(frame, self._read_changes, frame, True)
                    elif frame.kind == REDIRECTS:
                        self._at(frame, self._read_redirects, frame)
        self._keep_history()
        self._keep_redirects()
        for index in early:
            self._at(self.frames[index], self._block, index, False)
        for frame in log.frames:
            self._at(frame, self._frame, self._note(frame, False), frame)
        for frame, deaths in late:
            for death in deaths:
                self._at(frame, self._die, death)
        if self.gone or any(member.number not in log.live for member in start.live):
            # Deaths of rows in other retired segments went with those that are passed over.
            self.blocks = {place: block for place, block in self.blocks.items() if place[0] in self.live}
        for block in self.blocks.values():
            if len(block.dead) < block.rows:
                self._at(block.frame, need, block.frame.segment in self.live, "F-654", "rows live in a retired segment")
                self._at(block.frame, need, block.base is None or block.base[0] in self.live and block.base in self.blocks,
                         "F-457", "rows live in a patch of a block that is not there")
                entity = self.schemas[-1].entities.get(block.entity) if self.schemas else None
                self._at(block.frame, need, entity is not None, "F-722", "rows live of an entity that the schema has no more")
                self._at(block.frame, need, max(block.columns[OBJECT_NUMBER].values) < self.counters.get(entity.tree, 1),
                         "F-622", "an object number is not below the counter of its tree")

    def _note(self, frame: Frame, is_side: bool = True) -> int:
        """A frame gets its index; of a side segment's one kind, version and value are looked at."""
        index = len(self.frames)
        self.frames.append(frame)
        self.index_of[frame.segment, frame.offset] = index
        if is_side:
            if frame.kind not in (SCHEMA, BLOCK, DEATHS, VALUE, METADATA, CHANGES, REDIRECTS):
                if not frame.flags & 0x80:  # F-311
                    raise Refused(f"unsupportedFeature: segment {frame.segment}, offset {frame.offset}: "
                                  f"a frame of kind {frame.kind}")
            elif frame.version != PAYLOAD_VERSION:  # F-312
                raise Refused(f"unsupportedVersion: segment {frame.segment}, offset {frame.offset}: "
                              f"payload version {frame.version}")
            elif frame.kind == VALUE:
                self.values[index] = self._at(frame, decode_value, self.log.payload(frame))
        return index

    def _schema_in_force(self, start: Start) -> Schema:
        """F-217; where its segment is gone, the last one that the newest segment adopts stands for it."""
        number, offset = start.schema_place
        fault = Damaged(self.log.newest.number, SEGMENT_HEADER, "F-217", "the schema in force is not there")
        found: Optional[Frame] = None
        if number in self.log.live:
            data = self.log.files[number]
            frame = frame_header(data.data, offset, number)
            if frame and frame.kind == SCHEMA and data.header_fault(frame) is None \
                    and crc32c(data.payload(frame)) == frame.payload_crc:
                found = frame
            else:
                raise Damaged(number, offset, "F-304", "the schema in force is damaged")
        else:
            for part in self.log.adopted:
                if part.segment in self.log.files:
                    for frame in self.log.part(part):
                        found = frame if frame.kind == SCHEMA else found
        if found is None:
            raise fault
        schema = self._at(found, decode_schema, self.log.payload(found), (found.segment, found.offset))
        if schema.version != start.schema_version:
            raise fault
        return schema

    @staticmethod
    def _at(frame: Frame, work: Callable[..., Any], *arguments: Any) -> Any:
        """F-110: what is broken inside has the place of the frame."""
        try:
            return work(*arguments)
        except Broken as broken:
            raise Damaged(frame.segment, frame.offset, broken.rule, broken.what) from None

    def _frame(self, index: int, frame: Frame) -> None:
        need((frame.kind == START) == (frame.offset == SEGMENT_HEADER), "F-211", "a start frame is not the first")
        if frame.kind not in (START, SCHEMA, BLOCK, PATCH, DEATHS, VALUE, CHANGES, ADOPT, RETIRE, METADATA, COMMIT, CLOSE,
                              REDIRECTS):
            if not frame.flags & 0x80:  # F-311
                raise Refused(f"unsupportedFeature: segment {frame.segment}, offset {frame.offset}: "
                              f"a frame of kind {frame.kind}")
            self.open.append(frame)
            return
        if frame.version != PAYLOAD_VERSION:  # F-312
            raise Refused(f"unsupportedVersion: segment {frame.segment}, offset {frame.offset}: "
                          f"payload version {frame.version}")
        data = self.log.payload(frame)
        is_newest = frame.segment == self.log.newest.number
        if frame.kind in (START, CLOSE):
            if frame.kind == START:
                before = [one.number for one in self.log.segments if one.number < frame.segment]
                if self.log.files[frame.segment].predecessor != (before[-1] if before else 0):  # a gap
                    need(not self.open and frame.commit >= self.last_commit, "F-603", "the number of the last commit falls")
                    self.last_commit = frame.commit
            need(not self.open and frame.commit == self.last_commit, "F-603", "a start or close frame is in a commit")
            if frame.kind == START:
                start = decode_start(data, frame.segment)
                if is_newest or not self.has_schema:
                    last = self.schemas[-1] if self.schemas else Schema(0, {}, (0, 0))
                    need((start.schema_place == last.place or start.schema_place[0] not in self.log.live)
                         and start.schema_version == last.version, "F-217", "the start frame names another schema")
                self._count(start.counters)
            else:
                self._count(decode_close(data))
        elif frame.kind == COMMIT:
            self._commit(frame, *decode_commit(data))
        else:
            self.open.append(frame)
            if frame.kind == SCHEMA:
                if is_newest or not self.has_schema:
                    schema = decode_schema(data, (frame.segment, frame.offset))
                    need(not self.schemas or schema.version > self.schemas[-1].version, "F-702",
                         "the version is not larger")
                    self.schemas.append(schema)
            elif frame.kind in (BLOCK, PATCH):
                self.open_blocks.append(index)
            elif frame.kind == DEATHS:
                self.open_deaths.append((frame, decode_deaths(data)))
            elif frame.kind == ADOPT:
                self.open_changes.append((frame, decode_adopt(data), []))
            elif frame.kind == RETIRE:
                self.open_changes.append((frame, [], decode_retire(data)))
            elif frame.kind == METADATA:
                metadata = self._read_metadata(frame)
                need(metadata.revision > self.last_revision, "F-753", "the revision of the metadata does not rise")
                self.last_revision = metadata.revision
                self.open_metadata.append(metadata)
            elif frame.kind == CHANGES:
                self._read_changes(frame, False)
            elif frame.kind == REDIRECTS:
                self._read_redirects(frame)
            else:
                self.values[index] = decode_value(data)

    def _adopt(self, part: Part) -> None:
        """65.2: the frames of the part stand in the commit."""
        side = self.log.files.get(part.segment)
        if side is None or not side.whole or side.kind != SIDE or side.store_id != self.log.newest.store_id:
            if part.segment not in self.log.retired:
                raise Damaged(part.segment, 0, "F-652", "a side segment is missing")
            self.gone.add(part.segment)
            return
        before = self.live.get(part.segment)
        need((part.start, part.start_chain) == ((before.end, before.chain) if before else (SEGMENT_HEADER, side.crc)),
             "F-652", "a part does not follow the one before")
        for frame in self.log.part(part):
            index = self._note(frame)
            if frame.kind == BLOCK:
                self.open_blocks.append(index)
            elif frame.kind == DEATHS:
                self.open_deaths.append((frame, self._at(frame, decode_deaths, self.log.payload(frame))))
            elif frame.kind == SCHEMA:
                again = self._at(frame, decode_schema, self.log.payload(frame), (frame.segment, frame.offset))
                self.schemas[-1:] = [again]
            elif frame.kind == METADATA:
                self._keep(self._at(frame, self._read_metadata, frame))
            elif frame.kind == CHANGES:
                self._at(frame, self._read_changes, frame, True)
            elif frame.kind == REDIRECTS:
                self._at(frame, self._read_redirects, frame)
        self.live[part.segment] = Member(part.segment, SIDE, part.end, part.end_chain)

    def _retire(self, number: int, by: int) -> None:
        need(number != by and (number in self.live or number in self.gone or number in self.log.retired),
             "F-654", "a segment is retired that is none of the store's")
        self.live.pop(number, None)

    def _read_metadata(self, frame: Frame) -> "Metadata":
        need(bool(frame.flags & 0x80), "F-754", "readers that know no metadata would not pass them over")
        need(bool(self.log.files[frame.segment].read_only_compatible & METADATA_BIT), "F-755",
             "metadata are in a segment that does not say that it has some")
        metadata = decode_metadata(self.log.payload(frame), frame.segment)
        need(metadata.document.get("asOf") is None or bool(self.log.files[frame.segment].read_only_compatible & PAST_BIT),
             "F-797", "past states are kept in a segment that does not say so")
        return metadata

    def check_past(self) -> None:
        """79.1."""
        past = self.metadata.document.get("asOf") if self.metadata else None
        if self.metadata is None or past is None:
            return
        try:
            need(past["horizon"] <= self.last_commit, "F-792", "states are kept from a commit on that is still to come")
            for one in past.get("held", []):
                need(one["segment"] not in self.live and past["horizon"] < one["commit"] <= self.last_commit, "F-793",
                     f"segment {one['segment']} is held, and was not retired behind the horizon")
        except Broken as fault:
            raise Damaged(self.metadata.segment, 0, fault.rule, fault.what) from None

    def _read_changes(self, frame: Frame, is_side: bool) -> None:
        """77: a part counts when all parts are there, and the commit is."""
        need(bool(frame.flags & 0x80), "F-776", "readers that know no history would not pass changes over")
        need(bool(self.log.files[frame.segment].read_only_compatible & HISTORY_BIT), "F-777",
             "changes are in a segment that does not say that it has some")
        changes = decode_changes(self.log.payload(frame))
        need(changes.commit <= frame.commit if is_side else changes.commit == frame.commit, "F-775",
             "the changes bear the number of another commit")
        if changes.part:
            need(bool(self.open_history), "F-774", "the parts of changes do not follow each other")
            before, last = self.open_history[-1]
            need(not last.is_last and (before.segment, before.end) == (frame.segment, frame.offset)
                 and (last.commit, last.part + 1) == (changes.commit, changes.part), "F-774",
                 "the parts of changes do not follow each other")
        else:
            need(not self.open_history or self.open_history[-1][1].is_last, "F-774",
                 "the parts of changes do not follow each other")
        self.open_history.append((frame, changes))

    def _read_redirects(self, frame: Frame) -> None:
        need(bool(frame.flags & 0x80), "F-784", "readers that know no redirects would not pass them over")
        need(bool(self.log.files[frame.segment].read_only_compatible & REDIRECTS_BIT), "F-785",
             "redirects are in a segment that does not say that it has some")
        self.open_redirects.append(decode_redirects(self.log.payload(frame), frame.segment))

    def _keep_redirects(self) -> None:
        """F-782."""
        for found in self.open_redirects:
            for key, one in found.items():
                known = self.redirects.get(key)
                if known is None or (one.turn, one.segment) >= (known.turn, known.segment):
                    self.redirects[key] = one
        self.open_redirects = []

    def led(self, alive: Set[Tuple[int, int]]) -> List[Tuple[int, int, Optional[int]]]:
        """78.2: of each number with an entry in force the tree, itself, and where it leads, if it does."""
        found: List[Tuple[int, int, Optional[int]]] = []
        for (tree, old), one in sorted(self.redirects.items()):
            if one.segment not in self.live:
                raise Damaged(one.segment, 0, "F-786", "redirects in force are in a retired segment")
            fault = Damaged(one.segment, 0, "F-787", f"object {old} is led where none is")
            if max(old, one.new) >= self.counters.get(tree, 1):
                raise fault
            if one.new and (tree, old) in alive:
                raise Damaged(one.segment, 0, "F-783", f"object {old} is there, and led to another one")
            number, steps = one.new, 0
            target = None
            while number:
                if target is None and (tree, number) in alive:
                    target = number
                steps += 1
                if steps > len(self.redirects):
                    raise fault
                following = self.redirects.get((tree, number))
                number = following.new if following else 0
            found.append((tree, old, target))
        return found

    def _keep_history(self) -> None:
        need(not self.open_history or self.open_history[-1][1].is_last, "F-774", "parts of changes are missing")
        for frame, changes in self.open_history:
            known = self.history.get(changes.commit)
            if changes.part:
                if known and known[0] == frame.segment:
                    known[1].append(changes)
            elif known is None or known[0] <= frame.segment:
                self.history[changes.commit] = (frame.segment, [changes])
        self.open_history = []

    def retained(self) -> List[List[Changes]]:
        """77.2."""
        settings = self.metadata.document.get("history") if self.metadata else None
        if not settings:
            return []
        kept = [(commit, found) for commit, found in sorted(self.history.items()) if commit > settings["horizon"]]
        for _, (segment, _) in kept:
            if segment not in self.live:
                raise Damaged(segment, 0, "F-779", "retained changes are in a retired segment")
        return [parts for _, (_, parts) in kept]

    def _keep(self, metadata: "Metadata") -> None:
        """F-753."""
        if self.metadata is None or (metadata.revision, metadata.segment) >= (self.metadata.revision, self.metadata.segment):
            self.metadata = metadata

    def _count(self, counters: List[Tuple[int, int]]) -> None:
        for tree, following in counters:
            need(following >= self.counters.get(tree, 1), "F-622", "a counter falls")
            self.counters[tree] = following

    def _commit(self, frame: Frame, first: int, count: int, counters: List[Tuple[int, int]]) -> None:
        begin = self.open[0] if self.open else frame
        need(first == begin.lsn and count == len(self.open) and begin.segment == frame.segment,
             "F-601", "the commit has other frames than it says")
        need(all(one.commit == frame.commit for one in self.open), "F-602", "a frame is of another commit")
        need(frame.commit > self.last_commit and (self.last_commit != 0 or frame.commit == 1),
             "F-602", "commit numbers do not begin at 1 and rise")
        self._count(counters)
        for place, parts, numbers in self.open_changes:
            if place.segment == self.log.newest.number:
                for part in parts:
                    self._at(place, self._adopt, part)
                for number in numbers:
                    self._at(place, self._retire, number, place.segment)
        for index in self.open_blocks:
            self._at(self.frames[index], self._block, index)
        for place, deaths in self.open_deaths:
            for death in deaths:
                self._at(place, self._die, death)
        for metadata in self.open_metadata:
            self._keep(metadata)
        self._keep_history()
        self._keep_redirects()
        self.last_commit = frame.commit
        self.open, self.open_blocks, self.open_deaths, self.open_changes = [], [], [], []
        self.open_metadata = []

    def _block(self, index: int, counts: bool = True) -> None:
        frame = self.frames[index]
        if frame.kind == PATCH:
            block = decode_patch(self.log.payload(frame), frame, index, self.schemas, self.blocks)
        else:
            block = decode_block(self.log.payload(frame), frame, index, self.schemas)
        need(not block.is_packed or bool(self.log.files[frame.segment].incompatible & PACKED_BIT), "F-570",
             "a block is packed in a segment that does not say so")
        need(not counts or not block.tree or OBJECT_NUMBER not in block.columns
             or max(block.columns[OBJECT_NUMBER].values) < self.counters.get(block.tree, 1),
             "F-622", "an object number is not below the counter of its tree")
        self.blocks[frame.segment, frame.offset] = block

    def _die(self, death: Death) -> None:
        named = self.blocks.get(death.place)
        if named is None:
            if death.place[0] not in self.live:  # F-614
                return
            raise Broken("F-614", "a death names no block of its or an earlier commit")
        if death.form == 1:
            need(death.dead == named.rows, "F-613", "a death names another number of rows")
            named.dead.update(range(named.rows))
        elif death.form == 2:
            slots = struct.unpack(f"<{death.dead}H", death.data)
            need(slots[-1] < named.rows, "F-613", "a death names a row that the block does not have")
            named.dead.update(slots)
        else:
            need(len(death.data) == (named.rows + 7) // 8, "F-613", "a death's bitmap has another length")
            named.dead.update(bits(death.data, named.rows, "F-613"))

    def large_value(self, tree: int, number: int, property_id: int, cell: bytes) -> bytes:
        """60.5."""
        segment, offset, length, crc, zero = struct.unpack("<IIQII", cell)
        need(zero == 0, "F-103", "reserved bytes of a reference to a large value are not zero")
        index = self.index_of.get((segment, offset * 8), -1)
        need(length >= 1 and segment in self.live and index in self.values, "F-631", "a large value is not there")
        pieces: List[bytes] = []
        have = 0
        while have < length:
            head = self.values.get(index)
            need(head == ValueHead(tree, number, property_id, len(pieces), length, have)
                 and self.frames[index].segment == segment, "F-632", "the pieces of a large value do not fit")
            pieces.append(self.log.payload(self.frames[index])[32:])
            have += len(pieces[-1])
            index += 1
        value = b"".join(pieces)
        need(crc32c(value) == crc, "F-634", "the checksum of a large value is wrong")
        return value


# Canonical export (80)

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
ESCAPED = re.compile(r'[\x00-\x1f"\\]')
EPOCH = datetime.datetime(2001, 1, 1)


def quoted(text: str) -> str:
    """F-818."""
    return '"' + ESCAPED.sub(lambda m: ESCAPES.get(m.group(), f"\\u{ord(m.group()):04x}"), text) + '"'


def print_text(data: bytes) -> str:
    try:
        return quoted(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Broken("F-553", "a string is not UTF-8") from None


def laid_out(negative: bool, digits: str, p: int) -> str:
    """F-811: ±0.digits × 10^p as ECMAScript lays it out."""
    k = len(digits)
    if k <= p <= 21:
        text = digits + "0" * (p - k)
    elif 0 < p <= 21:
        text = digits[:p] + "." + digits[p:]
    elif -6 < p <= 0:
        text = "0." + "0" * -p + digits
    else:
        text = digits[0] + ("." + digits[1:] if k > 1 else "") + f"e{p - 1:+d}"
    return "-" + text if negative else text


def print_special(value: float) -> Optional[str]:
    """F-813 and the zeros."""
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if math.isfinite(value):
        return None
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def print_double(value: float) -> str:
    """F-811. Python's repr of a float has the digits that the rule asks for, laid out otherwise."""
    special = print_special(value)
    if special:
        return special
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    p = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return laid_out(value < 0, digits.rstrip("0"), p)


def print_float(value: float) -> str:
    """F-812: for each number of digits the neighbours of the value, until one is read back as the same binary32."""
    special = print_special(value)
    if special:
        return special
    pattern = struct.unpack("<I", struct.pack("<f", abs(value)))[0]
    biased, fraction = pattern >> 23, pattern & 0x7FFFFF
    mantissa, exponent = (fraction | 0x800000, biased - 150) if biased else (fraction, -149)
    # Value and both ends of what is rounded to it, in quarters of the last place; an even mantissa takes the ends too.
    middle = mantissa * 4
    low = middle - (1 if fraction == 0 and biased > 1 else 2)
    high, inclusive = middle + 2, mantissa % 2 == 0
    p = int(f"{abs(value):.17e}".partition("e")[2]) + 1
    for k in range(1, 10):
        # All is compared as whole numbers: unit = 10^(p − k), quarter = 2^(exponent − 2), each times `numerator`s.
        unit = 10 ** max(p - k, 0) * 2 ** max(2 - exponent, 0)
        quarter = 2 ** max(exponent - 2, 0) * 10 ** max(k - p, 0)
        below = middle * quarter // unit
        fits = [n for n in (below, below + 1)
                if low * quarter < n * unit < high * quarter
                or inclusive and n * unit in (low * quarter, high * quarter)]
        if fits:
            best = min(fits, key=lambda n: (abs(n * unit - middle * quarter), n % 2))
            text = str(best)
            return laid_out(value < 0, text.rstrip("0"), p - k + len(text))
    raise AssertionError("nine digits are enough for every binary32")


def print_decimal(data: bytes) -> str:
    """50.12, F-816."""
    if data == b"\0":
        return '"0"'
    need(3 <= len(data) <= 18 and data[0] in (1, 2) and data[-1] != 0, "F-550", "a decimal number is malformed")
    exponent = data[1] - 256 if data[1] > 127 else data[1]
    coefficient = int.from_bytes(data[2:], "little")
    need(coefficient % 10 != 0 or exponent == 127, "F-550", "a decimal number has another form")
    digits = str(coefficient)
    if exponent >= 0:
        digits += "0" * exponent
    else:
        digits = digits.rjust(1 - exponent, "0")
        digits = digits[:exponent] + "." + digits[exponent:]
    return '"-' + digits + '"' if data[0] == 2 else '"' + digits + '"'


def print_date(value: float) -> str:
    """F-817."""
    product = value * 1000
    if abs(product) < 1e15:
        m = round(product)  # Python's round of a float takes ties to even
        same = struct.pack("<d", float(m) / 1000) == struct.pack("<d", value)
        if same and -63113904000000 <= m <= 252423993599999:
            date = EPOCH + datetime.timedelta(milliseconds=m)
            milliseconds = f".{m % 1000:03d}" if m % 1000 else ""
            return (f'"{date.year:04d}-{date.month:02d}-{date.day:02d}T{date.hour:02d}:{date.minute:02d}:'
                    f'{date.second:02d}{milliseconds}Z"')
    return print_double(value)


def print_boolean(value: int) -> str:
    need(value in (0, 1), "F-551", "a boolean is neither 0 nor 1")
    return "true" if value else "false"


def print_uuid(data: bytes) -> str:
    text = binascii.hexlify(data).decode().upper()
    return f'"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"'


def print_integer(low: int, high: int, rule: str) -> Callable[[int], str]:
    def checked(value: int) -> str:
        need(low <= value <= high, rule, "a number is out of the range of its kind")
        return str(value)
    return checked


PRINTERS: Dict[str, Callable[[Any], str]] = {
    "integer16": print_integer(-1 << 15, (1 << 15) - 1, "F-551"),
    "integer32": print_integer(-1 << 31, (1 << 31) - 1, "F-551"),
    "integer64": str, "order": str, "reference": print_integer(1, MAX_NUMBER, "F-554"), "boolean": print_boolean,
    "double": print_double, "float": print_float, "date": print_date, "decimal": print_decimal,
    "string": print_text, "uri": print_text, "uuid": print_uuid,
    "binary": lambda data: f'"{base64.b64encode(data).decode()}"',
    "transformable": lambda data: f'"{base64.b64encode(data).decode()}"'}


def export(content: Content) -> Tuple[List[str], List[Tuple[int, int, Optional[int]]]]:
    """The lines of the export, and where the numbers of objects lead that are not there."""
    schema = content.schemas[-1] if content.schemas else Schema(0, {}, (0, 0))
    alive: Dict[Tuple[int, int], Tuple[Block, int]] = {}
    for block in content.blocks.values():
        if len(block.dead) == block.rows:
            continue  # Its base may have gone, and with it the numbers.
        numbers = block.columns[OBJECT_NUMBER].values
        for slot in range(block.rows):
            if slot not in block.dead:
                entity = schema.entities.get(block.entity)
                key = (entity.tree if entity else block.tree, numbers[slot])
                if key in alive:
                    raise Damaged(block.frame.segment, block.frame.offset, "F-643", f"object {key[1]} lives twice")
                alive[key] = (block, slot)

    def line(block: Block, slot: int, number: int) -> str:
        entity = schema.entities.get(block.entity)
        if entity is None or entity.abstract:
            raise Broken("F-415", "a row is of no entity of the schema in force")
        parts = []
        for item in entity.properties:
            column = block.columns.get(item.id)
            value = column.values[slot] if column else None  # F-408
            is_filling = value is None
            if is_filling:
                value = item.stands_for(block, column is None)  # F-720
            if value is None:
                parts.append(quoted(item.name) + ":null")  # F-804
                continue
            need(column is None or column.kind == item.column or column.kind == FLOAT and item.column == DOUBLE
                 and block.schema_version < schema.version, "F-415", "a column is not of the kind of its property")
            if column is not None and not is_filling and slot in column.external:
                value = content.large_value(entity.tree, number, item.id, value)
            parts.append(quoted(item.name) + ":" + PRINTERS[item.kind](value))
        version = block.columns[ROW_VERSION].values[slot]
        return (f'{{"entity":{quoted(entity.name)},"id":{number},"version":{version},'
                f'"values":{{{",".join(parts)}}}}}\n')

    lines = [f'{{"cairn":"export","format":{VERSION},"schema":{schema.version}}}\n']  # F-802
    for tree, number in sorted(alive):  # F-803
        block, slot = alive[tree, number]
        lines.append(Content._at(block.frame, line, block, slot, number))
    return lines, content.led(set(alive))


OPERATIONS = {1: "insert", 2: "update", 3: "delete", 4: "redirect"}


def print_history(content: Content) -> None:
    for parts in content.retained():
        head = parts[0]
        entries = [{"entity": entry.entity, "operation": OPERATIONS[entry.operation],
                    "numbers": [list(run) for run in entry.numbers],
                    "properties": [list(one) for one in entry.properties], "values": entry.values}
                   for part in parts for entry in part.entries if entry.operation in OPERATIONS]
        print(json.dumps({"commit": head.commit, "time": head.time, "process": head.process, "author": head.names[0],
                          "context": head.names[1], "program": head.names[2], "changes": entries},
                         ensure_ascii=False, separators=(",", ":")))
    sys.stdout.flush()


def run(folder: str, what: str, at: Optional[int] = None) -> None:
    log = Log(folder, at)
    if what == "--frames":
        for frame in log.frames:
            print(frame.segment, frame.offset, KIND_NAMES.get(frame.kind, str(frame.kind)), frame.length, frame.commit)
        sys.stdout.flush()
    if log.damage:
        raise log.damage
    content = Content(log)
    lines, led = export(content)
    content.retained()
    content.check_past()
    if what == "--history":
        print_history(content)
    elif what == "--redirects":
        for tree, old, target in led:
            print(json.dumps({"tree": tree, "id": old, "leads": target}, separators=(",", ":")))
        sys.stdout.flush()
    elif what == "--metadata":
        if content.metadata:
            print(content.metadata.revision)
            print(json.dumps(content.metadata.document, ensure_ascii=False, sort_keys=True, separators=(",", ":")))
        sys.stdout.flush()
    elif what != "--frames":
        for text in lines:
            sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.buffer.flush()


def main(arguments: List[str]) -> int:
    what = arguments[0] if arguments[:1] and arguments[0] in ("--frames", "--metadata", "--history", "--redirects") else ""
    rest = arguments[1:] if what else arguments
    at: Optional[int] = None
    if len(rest) == 3 and rest[0] == "--at" and re.fullmatch(r"[0-9]{1,18}", rest[1]):
        at, rest = int(rest[1]), rest[2:]
    if len(rest) != 1 or rest[0].startswith("-"):
        print("usage: reader.py [--frames | --metadata | --history | --redirects] [--at COMMIT] STORE", file=sys.stderr)
        return 2
    try:
        run(rest[0], what, at)
    except Damaged as report:
        print(report, file=sys.stderr)
        return 3
    except Refused as report:
        print(report, file=sys.stderr)
        return 1
    except (OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):  # nobody reads: Python shall not complain again at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"cannot read the store: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
