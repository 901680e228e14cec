#!/usr/bin/env python3
"""Unpacks a packed Pajé trace: unpack.py FILE.pjp > FILE.trace

This reader follows docs/dev/pack-format.md section by section. It is slow. It needs zstandard from PyPI.
"""

import itertools
import struct
import sys
import zlib
from collections import defaultdict

import zstandard

M64 = 0xFFFFFFFFFFFFFFFF


# The file

def pages(data):
    """Yields the kind and the content of each page, and its size in the file."""
    if data[:8] != b"\x89PJP\r\n\x1a\n":
        raise ValueError("not a packed trace")
    (version,) = struct.unpack_from("<I", data, 8)
    if version != 3:
        raise ValueError(f"unknown version {version}")
    at, number = 12, 0
    while True:
        kind, compressed, size, kept, checksum = struct.unpack_from("<BBIII", data, at)
        content = data[at + 14:at + 14 + kept]
        if zlib.crc32(content, zlib.crc32(data[at:at + 10], zlib.crc32(struct.pack("<I", number)))) != checksum:
            raise ValueError(f"byte {at}: wrong checksum")
        if compressed:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        if len(content) != size:
            raise ValueError(f"byte {at}: wrong size")
        yield kind, content, 14 + kept
        if kind == 11:
            place, end = struct.unpack_from("<Q8s", data, at + 14 + kept)
            if place != at or end != b"PJP end\n" or len(data) != at + 30 + kept:
                raise ValueError("wrong end of the file")
            return
        at, number = at + 14 + kept, number + 1


def take_number(content, at):
    number = shift = 0
    while True:
        number |= (content[at] & 127) << shift
        shift += 7
        at += 1
        if content[at - 1] < 128:
            return number, at


def take_numbers(content, at, count):
    numbers = []
    for _ in range(count):
        number, at = take_number(content, at)
        numbers.append(number)
    return numbers, at


def check_index(content, segments, summaries):
    """Compares the index with the segments and summaries that were read."""
    count, at = take_number(content, 0)
    if count != len(segments):
        raise ValueError(f"the index has {count} segments")
    for segment in segments:
        numbers, at = take_numbers(content, at, 4)
        if numbers != segment:
            raise ValueError("the index has another segment")
    count, at = take_number(content, at)
    if count != len(summaries):
        raise ValueError(f"the index has {count} summaries")
    for size in summaries:
        (said, _version, length), at = take_numbers(content, at, 3)
        if said != size or length > 255:
            raise ValueError("the index has another summary")
        at += length
    if at != len(content):
        raise ValueError("the index is too long")


def unpack(data):
    found, segments, summaries = pages(data), [], []
    for kind, content, kept in found:
        if kind == 11:
            check_index(content, segments, summaries)
            return
        if kind == 12:
            summaries.append(kept)
            continue
        (length, lines, after, zeros, which), at = take_numbers(content, 0, 5)
        (checksum,) = struct.unpack_from("<I", content, at)
        parts, number = [b""] * 9, 1
        for part in range(9):
            if which >> part & 1:
                kind, parts[part], more = next(found)
                assert kind == 2 + part
                kept, number = kept + more, number + 1
        text = parts[8] or Segment(parts, after, zeros).text(lines, length)
        if zlib.crc32(text) != checksum:
            raise ValueError("wrong checksum of a text")
        segments.append([kept, number, length, lines])
        yield text


# Columns

def sheet(page):
    """Returns iterators over the bytes of a page's columns, by number."""
    columns = defaultdict(lambda: iter(b""))
    if not page:
        return columns
    parts, number = [], 0
    count, at = take_number(page, 0)
    for _ in range(count):
        skipped, at = take_number(page, at)
        size, at = take_number(page, at)
        kept = None
        if size >= 512:
            kept, at = take_number(page, at)
        number += skipped
        parts.append((number, size, kept))
        number += 1
    together, at = take_number(page, at)

    def body(size, kept):
        nonlocal at
        content = page[at:at + kept]
        at += kept
        if kept != size:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        return content

    for number, size, kept in parts:
        if kept is not None:
            columns[number] = iter(body(size, kept))
    shared, start = body(sum(size for _, size, kept in parts if kept is None), together), 0
    for number, size, kept in parts:
        if kept is None:
            columns[number] = iter(shared[start:start + size])
            start += size
    return columns


class Stream:
    def __init__(self, page, texts):
        self.columns = sheet(page)
        self.texts, self.text_at = texts, 0

    def byte(self, column):
        return next(self.columns[column])

    def number(self, column):
        first = self.byte(column)
        if first < 240:
            return first
        return sum(self.byte(column + 1 + place) << 8 * place for place in range(first - 239))

    def numbers(self, column):
        while True:
            try:
                yield self.number(column)
            except StopIteration:
                return

    def text(self):
        end = self.texts.index(b"\n", self.text_at)
        text = self.texts[self.text_at:end]
        self.text_at = end + 1
        return text


class Table:
    """Holds groups of numbers, each in the order in which its numbers were written."""

    def __init__(self, stream, column):
        self.groups = []
        for count in list(stream.numbers(column)):
            self.groups.append(list(itertools.islice(stream.numbers(column + 9), count))[::-1])

    def next(self, group):
        return self.groups[group].pop()


# Lines

class Lines:
    def __init__(self, stream):
        self.stream = stream
        self.names, self.actions = [b""], [b""]
        self.table = Table(stream, 9)

    def next(self):
        lane = self.known(self.stream.number(0), self.names)
        return lane, self.known(self.table.next(lane), self.actions)

    def known(self, number, texts):
        if number == 0:
            texts.append(self.stream.text())
        return (number or len(texts)) - 1


# A value is a pair (kind, bits), where kind is "text", "hex", or the number of digits after the
# point.

def signed(bits):
    bits &= M64
    return bits - (1 << 64) if bits >> 63 else bits


def unzigzag(number):
    return signed(number >> 1 ^ -(number & 1))


def decimal(number, after):
    digits = str(abs(number)).rjust(after + 1, "0")
    text = digits[:len(digits) - after] + ("." + digits[len(digits) - after:] if after else "")
    return (("-" if number < 0 else "") + text).encode()


class Fields:
    def __init__(self, stream, first):
        self.stream = stream
        self.forms, self.bases = (list(stream.columns[first + i]) for i in range(2))
        self.table = Table(stream, first + 2)
        self.last, self.slots = defaultdict(int), defaultdict(lambda: (0, 0))
        self.texts = defaultdict(list)

    def next(self, slot, field):
        """Returns the text of the next value."""
        number = self.table.next(slot)
        form = self.forms[field] if field < len(self.forms) else 0
        texts = self.texts[field]
        if number == 0:
            text = self.stream.text()
            texts.append(text)
            return text
        number -= 1
        if form == 0:
            return texts[number]
        if form == 2:
            number, after = divmod(number, 19)
        last, step = self.slots[slot]
        base = (0, self.last[field], last, last + step)[self.bases[field]]
        came = signed(base + unzigzag(number))
        self.slots[slot] = came, signed(came - last)
        self.last[field] = came
        return b"%016x" % (came & M64) if form == 1 else decimal(came, after if form == 2 else form - 3)


# Keys

class Keys:
    def __init__(self, stream):
        self.stream, self.table, self.rests = stream, Table(stream, 9), Fields(stream, 27)
        self.prefixes, self.queues = [], []

    def prefix(self, slot):
        number = self.table.next(slot)
        if number == 0:
            self.prefixes.append(self.stream.text())
            self.queues.append([])
        return (number or len(self.prefixes)) - 1

    def start(self, slot, field):
        prefix = self.prefix(slot)
        key = self.prefixes[prefix] + self.rests.next(slot, field)
        self.queues[prefix].append(key)
        return key

    def end(self, slot, field):
        prefix = self.prefix(slot)
        place = self.stream.number(0)
        if place > 0:
            return self.queues[prefix].pop(place - 1)
        return self.prefixes[prefix] + self.rests.next(slot, field)


# Segments

class Segment:
    def __init__(self, parts, after, zeros):
        lines, times, values, keys = (Stream(parts[2 * i], parts[2 * i + 1]) for i in range(4))
        self.after, self.unit = after, 10 ** zeros
        self.raw, self.lines = lines, Lines(lines)
        self.times, self.odd = Table(times, 0), Fields(times, 18)
        self.values, self.keys = Fields(values, 0), Keys(keys)
        self.time = 0
        self.events, self.fields = {}, 0
        self.steps, self.slots = {}, 0

    def text(self, lines, length):
        text = b"\n".join(self.line() for _ in range(lines))
        return text if len(text) == length else text + b"\n"

    def line(self):
        lane, action = step = self.lines.next()
        if action == 0:
            return self.raw.text()
        pattern = self.lines.actions[action]
        holes = [byte for byte in pattern if 1 <= byte <= 5]
        if step not in self.steps:
            self.steps[step] = self.slots
            self.slots += sum(hole >= 3 for hole in holes)
        slot = self.steps[step]
        code = pattern
        for white in (b" ", b"\t", b"\r", b"\x0c"):
            code = code.split(white, 1)[0]
        if (code, len(holes)) not in self.events:
            self.events[code, len(holes)] = self.fields
            self.fields += len(holes)
        field, out = self.events[code, len(holes)], []
        for byte in pattern:
            if not 1 <= byte <= 5:
                out.append(bytes([byte]))
                continue
            if byte == 1:
                out.append(self.lines.names[lane])
            elif byte == 2:
                out.append(self.next_time(action))
            else:
                read = {3: self.keys.start, 4: self.keys.end, 5: self.values.next}[byte]
                out.append(read(slot, field))
                slot += 1
            field += 1
        return b"".join(out)

    def next_time(self, action):
        number = self.times.next(action)
        if number == 0:
            return self.odd.next(0, 0)
        self.time = signed(self.time + unzigzag(number - 1))
        return decimal(signed(self.time * self.unit), self.after)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: unpack.py FILE.pjp > FILE.trace")
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for text in unpack(data):
        sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main()
