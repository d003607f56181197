// JSON text broken into lines for reading, with every character of it kept: nothing is parsed, so no number is rounded and
// no key is reordered or dropped.

/** The text with breaks and blanks added outside its strings. What isn't JSON comes out as it is, broken the same way. */
export function indented(json: string): string {
  let [out, depth, inside, escaped] = ['', 0, false, false];
  const line = (by: number) => {
    depth = Math.max(depth + by, 0);
    out += `\n${'  '.repeat(depth)}`;
  };
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (inside) {
      out += character;
      inside = escaped || character !== '"';
      escaped = !escaped && character === '\\';
      continue;
    }
    const next = json.charAt(at + 1);
    switch (character) {
      case '"':
        inside = true;
        out += character;
        break;
      case '{':
      case '[':
        out += character;
        if (next === '}' || next === ']') out += json.charAt((at += 1));
        else line(1);
        break;
      case '}':
      case ']':
        line(-1);
        out += character;
        break;
      case ',':
        out += character;
        line(0);
        break;
      case ':':
        out += ': ';
        break;
      default:
        out += character;
    }
  }
  return out;
}
