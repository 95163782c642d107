import { expect, it } from "vitest";
import { progressLine } from "./progress-line.ts";
import { withoutSecrets } from "./report-requests.ts";
import { openTerminal } from "./terminal.ts";
import { withVolume } from "./volume.ts";

function stream(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

it("the command line keeps data and messages apart, and uses colour only on a terminal that wants it", () => {
  const [out, talk] = [stream(true), stream(false)];
  const terminal = openTerminal(out, talk, {});
  terminal.data("d");
  terminal.say("t");
  expect(out.written).toEqual(["d\n"]);
  expect(talk.written).toEqual(["t\n"]);
  terminal.data(`${terminal.onData.bad("x")} y`);
  expect(out.written[1]).toBe("\u001b[31mx\u001b[0m y\n");
  expect(terminal.onTalk.bad("x")).toBe("x");
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }])
    expect(openTerminal(out, talk, env).onData.bad("x")).toBe("x");
  expect(openTerminal(out, talk, { NO_COLOR: "" }).onData.bad("x")).not.toBe("x");
});

it("the terminal lets no text of others move the cursor, colour, or begin a line", () => {
  const [out, talk] = [stream(true), stream(true)];
  const terminal = openTerminal(out, talk, {});
  const name = "orders\u001b[2J\u001b[32m\u202e\u009b1A\r\nPASSED  everything";
  terminal.say(`${terminal.onTalk.bad("✗")} ${name}`);
  terminal.data(JSON.stringify({ name }));
  expect(talk.written).toEqual([
    "\u001b[31m✗\u001b[0m orders\\u001b[2J\\u001b[32m\\u202e\\u009b1A\\u000d\n  PASSED  everything\n",
  ]);
  expect(out.written[0]).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(out.written[0] ?? "")).toEqual({ name });
});

it("the terminal draws rate and time left, not more often than one can read, and nothing without a terminal", () => {
  let now = 0;
  const drawn: string[] = [];
  const line = progressLine(
    (text) => drawn.push(text),
    () => now,
  );
  line.update("upload", 0, 10_000_000);
  now = 50;
  line.update("upload", 1, 10_000_000);
  now = 1000;
  line.update("upload", 5_000_000, 10_000_000);
  expect(drawn).toHaveLength(2);
  expect(drawn[1]).toContain("5.0 MB  5.0 MB/s  50 %  1 s left");
  now = 2000;
  line.update("checks", 0);
  now = 4000;
  line.update("checks", 13);
  expect(drawn.slice(2).map((text) => text.slice(4))).toEqual([
    "  checks     0 done",
    "  checks     13 done",
  ]);
  line.clear();
  expect(drawn.at(-1)).toBe("\r\u001b[K");
  const piped = stream(false);
  openTerminal(piped, piped, {}).progress().update("upload", 1);
  expect(piped.written).toEqual([]);
});

it("with --quiet, prints results and errors, but no notes and no progress", () => {
  const out = { isTTY: true, text: "", write: (text: string) => (out.text += text) };
  const talk = { isTTY: true, text: "", write: (text: string) => (talk.text += text) };
  const terminal = withVolume(openTerminal(out, talk, { NO_COLOR: "1" }), "quiet");
  terminal.data("result");
  terminal.say("wrong");
  terminal.note("next");
  terminal.detail("detail");
  terminal.progress().update("upload", 5, 10);
  expect([out.text, talk.text]).toEqual(["result\n", "wrong\n"]);
});

it("with --verbose, prints how many bytes each finished phase moved, even without a terminal", () => {
  const talk = { text: "", write: (text: string) => (talk.text += text) };
  const terminal = withVolume(openTerminal({ write: () => true }, talk, {}), "verbose");
  const line = terminal.progress();
  line.update("download", 10);
  line.update("download", 2_000);
  line.update("decrypt", 2_000);
  line.clear();
  expect(talk.text).toMatch(/^download …\ndownload: 2\.0 kB in .*\ndecrypt …\ndecrypt: 2\.0 kB in .*\n$/);
});

it("with --verbose, shows neither a signed URL's query nor a token in a path", () => {
  expect(withoutSecrets("/o/bkp_01?X-Amz-Signature=abc")).toBe("/o/bkp_01");
  expect(withoutSecrets(`/api/bootstrap/atp_${"a".repeat(43)}`)).toBe("/api/bootstrap/…");
});
