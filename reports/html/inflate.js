// ---- inflate: DEFLATE (RFC 1951), as the report's data are written -------------------------------

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
  163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
  2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** For every 15 bits that can come next: the symbol that they begin with, and its length in the lowest four. */
function codeTable(lengths) {
  const table = new Uint16Array(1 << 15), counts = new Array(17).fill(0), next = [0, 0];
  for (const length of lengths) if (length) ++counts[length];
  for (let bits = 1; bits < 16; ++bits) next[bits + 1] = (next[bits] + counts[bits]) << 1;
  lengths.forEach((length, symbol) => {
    if (!length) return;
    let code = next[length]++, reversed = 0;
    for (let i = 0; i < length; ++i, code >>= 1) reversed = reversed << 1 | code & 1;
    for (let at = reversed; at < table.length; at += 1 << length) table[at] = symbol << 4 | length;
  });
  return table;
}

/** The `size` bytes of a stream of blocks with codes of their own. */
function inflate(input, size) {
  const out = new Uint8Array(size);
  let from = 0, to = 0, bits = 0, count = 0;
  const take = wanted => {
    for (; count < wanted; count += 8) bits |= input[from++] << count;
    const value = bits & (1 << wanted) - 1;
    bits >>>= wanted;
    count -= wanted;
    return value;
  };
  const symbol = table => {
    for (; count < 15; count += 8) bits |= input[from++] << count;
    const entry = table[bits & 0x7fff];
    bits >>>= entry & 15;
    count -= entry & 15;
    return entry >> 4;
  };
  for (let isLast = false; !isLast;) {
    isLast = take(1) === 1;
    take(2);
    const literals = take(5) + 257, distances = take(5) + 1, sent = take(4) + 4, order = new Array(19).fill(0);
    for (let i = 0; i < sent; ++i) order[LENGTH_ORDER[i]] = take(3);
    const lengthCode = codeTable(order), lengths = [];
    while (lengths.length < literals + distances) {
      const one = symbol(lengthCode);
      if (one < 16) lengths.push(one);
      else {
        const value = one === 16 ? lengths[lengths.length - 1] : 0;
        for (let left = one === 16 ? 3 + take(2) : one === 17 ? 3 + take(3) : 11 + take(7); left > 0; --left) lengths.push(value);
      }
    }
    const near = codeTable(lengths.slice(0, literals)), far = codeTable(lengths.slice(literals));
    for (let one = symbol(near); one !== 256; one = symbol(near)) {
      if (one < 256) {
        out[to++] = one;
        continue;
      }
      const length = LENGTH_BASE[one - 257] + take(LENGTH_BITS[one - 257]), place = symbol(far);
      const distance = DISTANCE_BASE[place] + take(DISTANCE_BITS[place]);
      for (let i = 0; i < length; ++i, ++to) out[to] = out[to - distance];
    }
  }
  return out;
}

/** The data of a script element that the report carries compressed. */
function dataOf(script) {
  const text = atob(script.textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return JSON.parse(new TextDecoder().decode(inflate(bytes, +script.dataset.bytes)));
}
