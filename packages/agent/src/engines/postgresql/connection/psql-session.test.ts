import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Child } from "../../../processes/child.ts";
import { literal, PsqlSession } from "./psql-session.ts";

const HOSTILE = [
  "\\! touch /tmp/x",
  "x\n\\! touch /tmp/x\n",
  "$attestore$ \\gexec",
  "'\\'' \\! x",
  ":HOST",
  "ü\\",
];

async function sentBy(use: (session: PsqlSession) => Promise<unknown>): Promise<string> {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  let sent = "";
  stdin.on("data", (piece: Buffer) => {
    sent += piece.toString();
    const mark = /--[0-9a-f]{24}--/.exec(piece.toString())?.[0];
    stdout.write(`${mark} false 00000 \n${mark}\n`);
  });
  const child = { stdin, stdout, exited: new Promise(() => undefined) } as unknown as Child;
  await use(await PsqlSession.open(() => Promise.resolve(child), {}, new AbortController().signal));
  return sent;
}

test.each(HOSTILE)("psql receives only the digits of %j", async (text) => {
  expect(literal(text)).toMatch(/^[a-zA-Z0-9_.(),' -]+$/);
  const sent = await sentBy((session) => session.runForeign(`select count(*) from ${text}`));
  const backslashes = sent.split("\n").filter((line) => line.includes("\\"));
  for (const line of backslashes)
    expect(line).toMatch(/^\\echo --[0-9a-f]{24}--(?: :ERROR :SQLSTATE :LAST_ERROR_MESSAGE)?$/);
  expect(sent).not.toContain(text);
});

test("a statement of ours with a backslash in it is refused before psql sees it", async () => {
  await expect(sentBy((session) => session.run("select '\\! x'"))).rejects.toThrow(/backslash/);
});
