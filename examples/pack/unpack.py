#!/usr/bin/env python3
"""Unpacks a packed Pajé trace: unpack.py FILE.pjp > FILE.trace

It follows docs/pack.md and nothing else, section by section; it is slow, and that is no matter. It needs zstandard of PyPI.
"""

import struct
import sys
import zlib
from collections import defaultdict, deque

import zstandard

M32 = 0xFFFFFFFF
M64 = 0xFFFFFFFFFFFFFFFF
ALL = 64


# The file

def pages(data):
    """(kind, content) of each page, in order."""
    if data[:8] != b"\x89PJP\r\n\x1a\n":
        raise ValueError("no packed trace")
    (version,) = struct.unpack_from("<I", data, 8)
    if version != 1:
        raise ValueError(f"version {version}")
    at, number = 12, 0
    while True:
        kind, compressed, size, kept, checksum = struct.unpack_from("<BBIII", data, at)
        content = data[at + 14:at + 14 + kept]
        if zlib.crc32(content, zlib.crc32(data[at:at + 10], zlib.crc32(struct.pack("<I", number)))) != checksum:
            raise ValueError(f"byte {at}: the checksum is another")
        if compressed:
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
        if len(content) != size:
            raise ValueError(f"byte {at}: another size")
        yield kind, content
        if kind == 11:
            place, end = struct.unpack_from("<Q8s", data, at + 14 + kept)
            if place != at or end != b"PJP end\n" or len(data) != at + 30 + kept:
                raise ValueError("the end")
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


def unpack(data):
    found = pages(data)
    for kind, content in found:
        if kind == 11:
            return
        at, head = 0, []
        for _ in range(5):
            number, at = take_number(content, at)
            head.append(number)
        length, lines, after, zeros, which = head
        (checksum,) = struct.unpack_from("<I", content, at)
        parts = [b""] * 9
        for part in range(9):
            if which >> part & 1:
                kind, parts[part] = next(found)
                assert kind == 2 + part
        text = parts[8] or Segment(parts, length, after, zeros).text(lines, length)
        if zlib.crc32(text) != checksum:
            raise ValueError("another text than was packed")
        yield text


# Bits

RATES = [(2 << 16) // (2 * n + 3) for n in range(121)]


class Prob:
    __slots__ = ("one", "seen")

    def __init__(self):
        self.one, self.seen = 32768, 0

    def learn(self, bit):
        rate = RATES[self.seen]
        one = self.one + (((65535 - self.one) * rate) >> 16) if bit else self.one - ((self.one * rate) >> 16)
        self.one = min(max(one, 1), 65535)
        self.seen = min(self.seen + 1, 120)


class Stream:
    def __init__(self, bits, texts):
        self.low, self.high = 0, M32
        self.bits, self.texts = bits, texts
        self.at, self.text_at, self.code = 0, 0, 0
        for _ in range(4):
            self.shift()

    def shift(self):
        byte = self.bits[self.at] if self.at < len(self.bits) else 0
        self.at += 1
        self.code = (self.code << 8 | byte) & M32

    def coded(self, one):
        middle = self.low + ((self.high - self.low) * one >> 16)
        bit = self.code <= middle
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while (self.low ^ self.high) >> 24 == 0:
            self.low = self.low << 8 & M32
            self.high = (self.high << 8 | 255) & M32
            self.shift()
        return int(bit)

    def bit(self, coarse, fine):
        weight = min(fine.seen, 8)
        one = (coarse.one * (8 - weight) + fine.one * weight) // 8
        bit = self.coded(min(max(one, 1), 65535))
        coarse.learn(bit)
        fine.learn(bit)
        return bit

    def plain(self, count):
        value = 0
        for _ in range(count):
            value = value << 1 | self.coded(32768)
        return value

    def text(self):
        end = self.texts.index(b"\n", self.text_at)
        text = self.texts[self.text_at:end]
        self.text_at = end + 1
        return text


def mix(a, b):
    mixed = (((a ^ b * 0x9E3779B1 & M32) + 0x7F4A7C15 & M32) * 0x85EBCA6B) & M32
    return mixed ^ mixed >> 15


class Model:
    def __init__(self, room):
        self.coarse_mask = (1 << min(room, 14) - 6) - 1
        self.fine_mask = (1 << room - 6) - 1
        self.coarse, self.fine = defaultdict(Prob), defaultdict(Prob)

    def node(self, stream, at, node):
        coarse = self.coarse[at[0] & self.coarse_mask, node & 63]
        return stream.bit(coarse, self.fine[at[1] & self.fine_mask, node & 63])

    def bit(self, stream, at):
        return self.node(stream, at, 0)

    def tree(self, stream, at, count):
        node = 1
        for _ in range(count):
            node = node << 1 | self.node(stream, at, node)
        return node - (1 << count)

    def number(self, stream, at, modelled=ALL):
        bits = self.tree(stream, at, 4)
        if bits == 15:
            bits += self.tree(stream, within(at, 1), 6)
        if bits < 2:
            return bits
        left, value, at = bits - 1, 1, within(at, bits + 1)
        while left and modelled:
            count = min(left, modelled, 4)
            left, modelled = left - count, modelled - count
            value = value << count | self.tree(stream, at, count)
            at = within(at, value & M32)
        return value << left | stream.plain(left)


def within(at, other):
    return mix(at[0], other), mix(at[1], other)


class Guesses:
    def __init__(self, room):
        self.mask = (1 << room - 2) - 1
        self.guesses, self.shared = {}, defaultdict(Prob)

    def peek(self, context):
        found = self.guesses.get(context & self.mask)
        return found and found[0]

    def right(self, stream, context, group):
        """The guess if it is right, else None."""
        found = self.guesses.get(context & self.mask)
        if found is None:
            return None
        guess, prob, count = found
        return guess if stream.bit(self.shared[(group << 4 | count) & 4095], prob) else None

    def learn(self, context, came):
        found = self.guesses.get(context & self.mask)
        if found and found[0] == came:
            found[2] = min(found[2] + 1, 15)
        elif found and found[2] > 3:
            found[2] //= 2
        else:
            self.guesses[context & self.mask] = [came, Prob(), 1]


# Lines

class Lines:
    def __init__(self, room):
        self.names, self.actions = [b""], [b""]
        self.lanes = [[0] * 6]
        self.lane = self.before = 0
        self.model, self.staying = Model(room), Model(room)
        self.next_lanes, self.next_actions = [Guesses(room), Guesses(room)], Guesses(room)

    def past(self, lane, count):
        context = count
        for action in self.lanes[lane][:count]:
            context = mix(context, action)
        return context

    def next(self, stream):
        lane = self.next_lane(stream)
        if lane == len(self.lanes):
            self.names.append(stream.text())
            self.lanes.append([0] * 6)
        stays = lane == self.lane
        if not stays:
            self.before, self.lane = self.lane, lane
        history, recent = self.past(lane, 4), self.past(lane, 2)
        context = self.past(lane, 6)
        action = self.next_actions.right(stream, context, 0)
        if action is None:
            at = mix(2, self.past(lane, 1)), mix(3, self.past(lane, 3))
            action = self.model.number(stream, at)
        self.next_actions.learn(context, action)
        if action == len(self.actions):
            self.actions.append(stream.text())
        self.lanes[lane] = [action] + self.lanes[lane][:5]
        return lane, action, history, recent, stays

    def next_lane(self, stream):
        now = self.lane
        if self.staying.bit(stream, (self.past(now, 1), self.past(now, 3))):
            return now
        lane = mix(now, 7)
        contexts = mix(lane, self.past(now, 4)), mix(lane, self.before)
        came = tried = None
        for order in range(2):
            guess = self.next_lanes[order].peek(contexts[order])
            if guess is None or guess == tried:
                continue
            came = self.next_lanes[order].right(stream, contexts[order], order)
            if came is not None:
                break
            tried = guess
        if came is None:
            came = self.model.number(stream, (1, mix(lane, self.past(now, 1))))
        for guesses, context in zip(self.next_lanes, contexts):
            guesses.learn(context, came)
        return came


# Values: (kind, bits), where kind is "text", "hex", or the digits after the point

def signed(bits):
    bits &= M64
    return bits - (1 << 64) if bits >> 63 else bits


def unzigzag(number):
    return signed(number >> 1 ^ -(number & 1))


def size(number):
    return (number << 1 ^ number >> 63 & M64).bit_length() if number >= 0 else (~number << 1 | 1).bit_length()


def decimal(number, after):
    digits = str(abs(number)).rjust(after + 1, "0")
    text = digits[:len(digits) - after] + ("." + digits[len(digits) - after:] if after else "")
    return (("-" if number < 0 else "") + text).encode()


class Column:
    def __init__(self):
        self.last = ("text", 0)
        self.values = []
        self.number = self.after = self.hex = 0
        self.difference = self.itself = 0


class Columns:
    def __init__(self, room):
        self.columns = defaultdict(Column)
        self.texts, self.numbers = [], {}
        self.model = Model(room)
        self.guesses = [Guesses(room), Guesses(room)]

    def text(self, stream, number, first, second):
        """The text of a value, and its bits."""
        column = self.columns[number]
        last = column.last[1] & M64
        contexts = mix(first, number), mix(mix(second, mix(last & M32, last >> 32)), number)
        came = self.value(stream, number, contexts)
        for guesses, context in zip(self.guesses, contexts):
            guesses.learn(context, came)
        column.last = came
        kind, bits = came
        if kind == "text":
            return self.texts[bits], bits
        return (b"%016x" % bits if kind == "hex" else decimal(bits, kind)), bits

    def value(self, stream, number, contexts):
        column = self.columns[number]
        tried = None
        for order in range(2):
            guess = self.guesses[order].peek(contexts[order])
            if tried is not None and guess == tried:
                continue
            came = self.guesses[order].right(stream, contexts[order], number << 1 | order)
            if came is not None:
                return came
            tried = guess or tried
        at = number, mix(contexts[0], 1)
        if self.model.bit(stream, within(at, 2)):
            return column.values[self.model.number(stream, within(at, 3))]
        came = self.new(stream, number, column)
        if len(column.values) < 65536:
            column.values.append(came)
        return came

    def new(self, stream, number, column):
        at = mix(number, 4), mix(number, 5)
        kind = self.model.number(stream, at)
        if kind == 0:
            text = stream.text()
            if text not in self.numbers:
                self.numbers[text] = len(self.texts)
                self.texts.append(text)
            return "text", self.numbers[text]
        if kind == 1:
            after = self.model.number(stream, within(at, column.after))
            base = column.number if column.difference <= column.itself else 0
            at = within(at, 6 + (base != 0))
            came = signed(base + unzigzag(self.model.number(stream, at, 8)))
            column.difference += size(signed(came - column.number)) - column.difference // 16
            column.itself += size(came) - column.itself // 16
            column.number, column.after = came, after
            return after, came
        came = 0
        for place in (48, 32, 16, 0):
            piece = column.hex >> place & 0xFFFF
            piece += unzigzag(self.model.number(stream, within(at, 8 + place)))
            came |= (piece & 0xFFFF) << place
        column.hex = came
        return "hex", came


# Keys

class Keys:
    def __init__(self, room):
        self.columns, self.model = Columns(room), Model(room)
        self.begun, self.open = [], []
        self.waiting = defaultdict(deque)
        self.ended, self.last = {}, {}
        self.how = 3

    @staticmethod
    def telling(key):
        hashes = [0, 0, 0]
        for place, part in enumerate(key.split(b"_", 7)[:3]):
            value = 1
            for byte in part:
                value = mix(value, byte)
            hashes[place] = value
        return hashes

    def spell(self, stream, column, lane, line):
        count = self.model.number(stream, (mix(column, 4), mix(column, 4)))
        before = self.last.get(lane, 0)
        parts = []
        for part in range(count):
            text, bits = self.columns.text(stream, column * 8 + part, mix(lane, before), mix(line, mix(before, 6)))
            parts.append(text)
            before = mix(before, bits & M32)
        self.last[lane] = before
        return b"_".join(parts)

    def start(self, stream, column, contexts):
        key = self.spell(stream, column, *contexts)
        link = len(self.begun)
        self.begun.append(key)
        self.open.append(True)
        for how, part in enumerate(self.telling(key) + [0]):
            waiting = self.waiting[mix(part, how)]
            if len(waiting) == 4096:
                waiting.popleft()
            waiting.append(link)
        return key

    def end(self, stream, column, lane, contexts):
        how = self.model.number(stream, (mix(column, 1), mix(self.how, column)))
        if how == 4:
            key = self.spell(stream, column, *contexts)
        else:
            self.how = how
            told = self.ended.get(lane)
            place = mix(told[how], how) if told and how < 3 else mix(0, 3)
            index = self.model.number(stream, (mix(column, 2), mix(contexts[0], 3)))
            waiting = self.waiting[place]
            link = [link for link in waiting if self.open[link]][index]
            self.open[link] = False
            key = self.begun[link]
            while waiting and not self.open[waiting[0]]:
                waiting.popleft()
            first = list(waiting)[:256]
            if len(waiting) > 256 and sum(not self.open[link] for link in first) > 128:
                self.waiting[place] = deque(link for link in waiting if self.open[link])
        self.ended[lane] = self.telling(key)
        return key


# Segments

class Segment:
    def __init__(self, parts, length, after, zeros):
        self.streams = [Stream(parts[2 * i], parts[2 * i + 1]) for i in range(4)]
        room = min(max(length.bit_length() - 4, 10), 18)
        self.after, self.unit = after, 10 ** zeros
        self.lines, self.values, self.keys = Lines(room), Columns(room), Keys(room)
        self.time = self.action = 0
        self.model, self.durations, self.odd = Model(room), Guesses(room), Columns(10)
        self.lane_times = defaultdict(int)
        self.events, self.columns = {}, 0

    def text(self, lines, length):
        text = b"\n".join(self.line() for _ in range(lines))
        return text if len(text) == length else text + b"\n"

    def line(self):
        line = self.lines.next(self.streams[0])
        lane, action, _, recent, _ = line
        if action == 0:
            return self.streams[0].text()
        pattern = self.lines.actions[action]
        holes = sum(1 <= byte <= 5 for byte in pattern)
        code = pattern
        for white in (b" ", b"\t", b"\r", b"\x0c"):
            code = code.split(white, 1)[0]
        if (code, holes) not in self.events:
            self.events[code, holes] = self.columns
            self.columns += holes
        column, before, out = self.events[code, holes], 0, []
        contexts = mix(lane, mix(action, recent)), action
        for byte in pattern:
            if not 1 <= byte <= 5:
                out.append(bytes([byte]))
                continue
            if byte == 1:
                out.append(self.lines.names[lane])
            elif byte == 2:
                out.append(self.next_time(line))
            elif byte == 3:
                out.append(self.keys.start(self.streams[3], column, contexts))
            elif byte == 4:
                out.append(self.keys.end(self.streams[3], column, lane, contexts))
            else:
                text, bits = self.values.text(self.streams[2], column, mix(lane, action), mix(action, before))
                out.append(text)
                before = bits & M32
            column += 1
        return b"".join(out)

    def next_time(self, line):
        lane, action, history, _, stays = line
        stream = self.streams[1]
        at = action, mix(action, (self.action << 1 | stays) & M32)
        if self.model.bit(stream, (1, 1)):
            return self.odd.text(stream, 0, action, 0)[0]
        self.action = action
        context = mix(history, action)
        duration = self.durations.right(stream, context, int(stays))
        if duration is None:
            back = self.model.bit(stream, within(at, 2))
            difference = self.model.number(stream, within(at, 3), 6)
            time = signed(self.time + (-difference if back else difference))
            duration = signed(time - self.lane_times[lane])
        else:
            time = signed(self.lane_times[lane] + duration)
        self.durations.learn(context, duration)
        self.time = self.lane_times[lane] = time
        return decimal(signed(time * self.unit), self.after)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: unpack.py FILE.pjp > FILE.trace")
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for text in unpack(data):
        sys.stdout.buffer.write(text)


if __name__ == "__main__":
    main()
