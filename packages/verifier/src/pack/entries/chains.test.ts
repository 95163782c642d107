import { expect, test } from "vitest";
import { Chains, type Link } from "./chains.ts";
import { Findings } from "../findings.ts";

const idOf = (file: number): string => `rcpt_${file}`;

function link(file: number, previousSha256: string | null, more: Partial<Link> = {}): Link {
  const made = { agentId: "agent_a", keyFingerprint: "SHA256:a", isEarlier: false, ...more };
  return { file, logIndex: file, bodySha256: `body ${file}`, previousSha256, ...made };
}

function lineOf(findings: Findings, id: string) {
  return findings.lines().find((line) => line.id === id);
}

async function chainOf(links: readonly Link[], logged: readonly string[] = [], earlier: string[] = []) {
  const [chains, findings] = [new Chains(idOf), new Findings()];
  for (const body of earlier) chains.addEarlier(body);
  for (const each of links) chains.add(each);
  await chains.check(findings, logged);
  return lineOf(findings, "chains");
}

test("a chain that follows on link by link needs nothing of the log", async () => {
  const links = [link(0, null), link(1, "body 0"), link(2, "body 1")];
  const logged = (function* (): Generator<string> {
    yield expect.unreachable();
  })();
  const [chains, findings] = [new Chains(idOf), new Findings()];
  for (const each of links) chains.add(each);
  await chains.check(findings, logged);
  expect(lineOf(findings, "chains")).toMatchObject({ result: "held", detail: "of 1 agent" });
});

test("a link may follow on any other that the log has, and on none that it lacks", async () => {
  const links = [link(0, null), link(1, "body 0"), link(2, "body 0")];
  expect(await chainOf(links, ["body 0", "body 1", "body 2"])).toMatchObject({ result: "held" });
  expect(await chainOf(links, ["body 1", "body 2"])).toMatchObject({
    result: "not_checked",
    detail: expect.stringMatching(/^1 receipt refers to .*; the first is rcpt_2 of agent_a/) as string,
  });
  // The first link of an agent, on what is before the pack: as a leaf, as an entry, or not at all.
  expect(await chainOf([link(5, "body 4")], [], ["body 4"])).toMatchObject({ result: "held" });
  expect(await chainOf([link(4, "body 3", { isEarlier: true }), link(5, "body 4")])).toMatchObject({
    result: "held",
  });
  expect(await chainOf([link(5, "body 4")])).toMatchObject({ result: "not_checked" });
});

test("each agent has a chain of its own, and one that begins again is reported", async () => {
  const other = { agentId: "agent_b" };
  const links = [link(0, null), link(1, null, other), link(2, "body 0"), link(3, "body 1", other)];
  expect(await chainOf(links)).toMatchObject({ result: "held", detail: "of 2 agents" });
  expect(await chainOf([...links, link(4, null)])).toMatchObject({
    result: "held",
    detail: expect.stringContaining("1 receipt or event starts a new chain") as string,
  });
});

test("a key counts from where the log has it, until its agent was revoked", () => {
  const chains = new Chains(idOf);
  for (const each of [
    link(1, null),
    link(3, "body 1"),
    link(5, "body 3", { keyFingerprint: "SHA256:b" }),
    link(9, "body 5", { keyFingerprint: "SHA256:b" }),
  ])
    chains.add(each);
  const checked = (attached: number, rotated: number, revoked: number) => {
    const findings = new Findings();
    chains.checkKeys(findings, {
      attachedAt: new Map([["agent_a", attached]]),
      inUseFrom: new Map([["SHA256:b", rotated]]),
      revokedAt: new Map([["agent_a", revoked]]),
    });
    const line = lineOf(findings, "agents");
    return line?.result === "failed" ? line.detail.match(/rcpt_\d/g) : null;
  };
  expect(checked(0, 4, 10)).toBeNull();
  expect(checked(2, 4, 10)).toEqual(["rcpt_1"]);
  expect(checked(0, 6, 10)).toEqual(["rcpt_5"]);
  expect(checked(0, 4, 4)).toEqual(["rcpt_5", "rcpt_9"]);
});
