/**
 * The protocol between the agent and a sandbox over one stream: frames with a type, a channel (one
 * for each program) and at most 64 KiB. Each direction of each program has a window of a MiB: the
 * sender stops there until the other side says how much it has read. So a program that nobody reads
 * does not block the others.
 */
export const FRAME = {
  /** To the sandbox, first: JSON `SandboxLimits`. */
  limits: 1,
  /** To the sandbox: JSON `StartRequest`. */
  start: 2,
  stdin: 3,
  stdinEnd: 4,
  /** To the sandbox: a signal's name. */
  kill: 5,
  /** To the sandbox: a uint32, how many bytes of stdout and stderr were read. */
  outputTaken: 6,
  errorsTaken: 7,
  /** From the sandbox, first: JSON `Ready`. */
  ready: 16,
  started: 17,
  /** From the sandbox: a program could not be started; an errno's name. */
  notStarted: 18,
  stdout: 19,
  stderr: 20,
  /** From the sandbox: JSON `Ended`, after all of its output. */
  exit: 21,
  /** From the sandbox: a uint32, how many bytes of stdin were read. */
  stdinTaken: 22,
  /** From the sandbox, last: which limit ended it. */
  limit: 23,
} as const;
export type FrameType = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

export interface StartRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
  /** Not a program: a connection to this unix socket in there, as its stdin and stdout. */
  readonly socket?: string;
  /** Its stdin is the sandbox's `DIRECT`, and no frames come for it. */
  readonly isDirect?: boolean;
}

/**
 * A file descriptor of a sandbox that the agent made itself: the stdin of one program, which no
 * process of ours relays.
 */
export const DIRECT = 3;

export interface Ready {
  /** Where programs find an empty directory, and one for sockets. */
  readonly home: string;
  readonly sockets: string;
  /** How the agent's own program is started in there; the name of the command follows. */
  readonly self: readonly string[];
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export const MAX_PAYLOAD = 64 * 1024;
export const WINDOW = 1 << 20;
const HEADER = 9;

export function frame(type: FrameType, channel: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  if (payload.length > MAX_PAYLOAD) throw new RangeError(`a frame of ${payload.length} bytes is too long`);
  const whole = Buffer.allocUnsafe(HEADER + payload.length);
  whole.writeUInt8(type, 0);
  whole.writeUInt32BE(channel, 1);
  whole.writeUInt32BE(payload.length, 5);
  whole.set(payload, HEADER);
  return whole;
}

export function jsonFrame(type: FrameType, channel: number, value: unknown): Buffer {
  return frame(type, channel, Buffer.from(JSON.stringify(value)));
}

export function countFrame(type: FrameType, channel: number, count: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(count);
  return frame(type, channel, payload);
}

/**
 * A stream of bytes, cut into its frames. On the agent's side an attacker controls it, so at most
 * one frame is buffered.
 */
export class FrameDecoder {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws RangeError for a frame that is longer than allowed; the stream is then useless */
  *push(bytes: Buffer): Generator<Frame, void, undefined> {
    let left = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (left.length >= HEADER) {
      const length = left.readUInt32BE(5);
      if (length > MAX_PAYLOAD) throw new RangeError(`a frame of ${length} bytes is too long`);
      if (left.length < HEADER + length) break;
      const payload = left.subarray(HEADER, HEADER + length);
      yield { type: left.readUInt8(0), channel: left.readUInt32BE(1), payload };
      left = left.subarray(HEADER + length);
    }
    this.#rest = left;
  }
}
