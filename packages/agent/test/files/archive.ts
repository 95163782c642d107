/** Archives made by hand, also such as no tar would make. */
export interface Member {
  readonly name: string;
  readonly type?: string;
  readonly linkName?: string;
  readonly content?: string;
  readonly pax?: Readonly<Record<string, string>>;
  readonly mode?: number;
  /** In place of the content's. */
  readonly size?: number;
}

export const ROOT: Member = { name: "./", type: "5", mode: 0o755 };

export function archiveOf(members: readonly Member[], end = Buffer.alloc(1024)): Buffer {
  return Buffer.concat([...members.map(memberBytes), end]);
}

function memberBytes(member: Member): Buffer {
  const { name, type = "0", linkName = "", content = "", pax, mode = 0o644 } = member;
  const extended = pax === undefined ? [] : [paxBytes(pax)];
  const data = Buffer.from(content, "latin1");
  return Buffer.concat([
    ...extended,
    header({ name, type, linkName, mode, size: member.size ?? data.length }),
    padded(data),
  ]);
}

function paxBytes(records: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.concat(Object.entries(records).map(([keyword, value]) => record(keyword, value)));
  const head = header({ name: "./PaxHeaders/x", type: "x", linkName: "", mode: 0o644, size: body.length });
  return Buffer.concat([head, padded(body)]);
}

function record(keyword: string, value: string): Buffer {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.from(`${length}${rest}`, "latin1");
}

interface HeaderFields {
  readonly name: string;
  readonly type: string;
  readonly linkName: string;
  readonly mode: number;
  readonly size: number;
  /** By name, in the header itself. */
  readonly owner?: string;
}

export function header({ name, type, linkName, mode, size, owner = "" }: HeaderFields): Buffer {
  const block = Buffer.alloc(512);
  block.write(name.slice(0, 100), 0, "latin1");
  block.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, "latin1");
  block.write(`${octal(size, 11)}\0${octal(0, 11)}\0${" ".repeat(8)}${type}`, 124, "latin1");
  block.write(linkName.slice(0, 100), 157, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(owner, 265, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function padded(data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}
