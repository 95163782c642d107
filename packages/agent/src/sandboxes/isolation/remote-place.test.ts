import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { countFrame, FRAME, frame, FrameDecoder, jsonFrame } from "./frames.ts";
import { openRemotePlace } from "./remote-place.ts";

const LIMITS = { processes: 10, file_bytes: 1, disk_bytes: 1 };

test("output that a program writes as it starts reaches its caller", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const decoder = new FrameDecoder();
  input.on("data", (bytes: Buffer) => {
    for (const { type, channel } of decoder.push(bytes))
      if (type === FRAME.start) {
        const all = [
          frame(FRAME.started, channel),
          frame(FRAME.stderr, channel, Buffer.from("ready\n")),
          frame(FRAME.stdout, channel, Buffer.from("out\n")),
          jsonFrame(FRAME.exit, channel, { code: 0, signal: null }),
        ];
        setImmediate(() => output.write(Buffer.concat(all)));
      }
  });
  output.write(jsonFrame(FRAME.ready, 0, { home: "/h", sockets: "/s", self: null }));
  const close = (): Promise<void> => Promise.resolve();
  const place = await openRemotePlace({ input, output, close }, LIMITS, () => undefined);

  const heard: string[] = [];
  const child = await place.start({ command: "true", args: [], signal: new AbortController().signal });
  child.stderr.on("data", (text: string) => heard.push(text));
  const [out] = (await once(child.stdout, "data")) as [Buffer];
  expect(await child.exited).toEqual({ code: 0, signal: null, stderr: "ready\n" });
  expect([heard.join(""), out.toString()]).toEqual(["ready\n", "out\n"]);

  // Nobody has to listen.
  const other = await place.start({ command: "true", args: [], signal: new AbortController().signal });
  expect((await other.exited).stderr).toBe("ready\n");
});

test("bytes that are written faster than the program reads arrive complete, in order and once", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const decoder = new FrameDecoder();
  const taken: Buffer[] = [];
  let untaken = 0;
  input.on("data", (bytes: Buffer) => {
    for (const { type, channel, payload } of decoder.push(bytes)) {
      if (type === FRAME.start) setImmediate(() => output.write(frame(FRAME.started, channel)));
      if (type === FRAME.stdin) {
        taken.push(Buffer.from(payload));
        untaken += payload.length;
        // A reader that is behind: the window fills, and opens as a whole.
        setImmediate(() => {
          const count = untaken;
          untaken = 0;
          if (count > 0) output.write(countFrame(FRAME.stdinTaken, channel, count));
        });
      }
      if (type === FRAME.stdinEnd) output.write(jsonFrame(FRAME.exit, channel, { code: 0, signal: null }));
    }
  });
  output.write(jsonFrame(FRAME.ready, 0, { home: "/h", sockets: "/s", self: null }));
  const close = (): Promise<void> => Promise.resolve();
  const place = await openRemotePlace({ input, output, close }, LIMITS, () => undefined);
  const child = await place.start({ command: "cat", args: [], signal: new AbortController().signal });
  const errors: Error[] = [];
  child.stdin.on("error", (error) => errors.push(error));
  const pieces = Array.from({ length: 400 }, (_, at) => Buffer.alloc(17_000, at));
  // Not one of them waits for the one before.
  for (const piece of pieces) child.stdin.write(piece);
  child.stdin.end();
  expect((await child.exited).code).toBe(0);
  expect(errors).toEqual([]);
  expect(Buffer.concat(taken).equals(Buffer.concat(pieces))).toBe(true);
});

test("stopping a program after its sandbox was closed does nothing", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const decoder = new FrameDecoder();
  input.on("data", (bytes: Buffer) => {
    for (const { type, channel } of decoder.push(bytes))
      if (type === FRAME.start) setImmediate(() => output.write(frame(FRAME.started, channel)));
  });
  output.write(jsonFrame(FRAME.ready, 0, { home: "/h", sockets: "/s", self: null }));
  const close = (): Promise<void> => Promise.resolve(void input.end());
  const place = await openRemotePlace({ input, output, close }, LIMITS, () => undefined);
  const child = await place.start({ command: "cat", args: [], signal: new AbortController().signal });
  await place.close();
  const errors: Error[] = [];
  input.on("error", (error) => errors.push(error));
  const stopped = child.stop();
  output.end();
  expect(await stopped).toMatchObject({ signal: "SIGKILL" });
  expect(errors).toEqual([]);
});
