/** As in the pages of docs/. */
const WIDTH = 150;

/** Writes JSON with every array and object that fits into a line on one line, so that generated files stay short to read and to compare. */
export function compactJson(value: unknown): string {
  return `${write(value, '', 0)}\n`;
}

/** `used` is how much of the line stands before and after the value. */
function write(value: unknown, indent: string, used: number): string {
  const line = onOneLine(value);
  if (indent.length + used + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${write(item, inner, 1)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return line;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => {
      const key = `${JSON.stringify(name)}: `;
      return `${inner}${key}${write(field, inner, key.length + 1)}`;
    });
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${JSON.stringify(name)}: ${onOneLine(field)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
