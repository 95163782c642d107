/**
 * What a service can do to a host by requests to its config.yaml: an honest one that a person
 * asked, and one that sends what it likes.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { expect, it } from "vitest";
import { changeConfig } from "../../src/cli/remote-config/change-config.ts";
import { readConfig } from "../../src/config/config.ts";
import { findRequest, journalRequest, updateRequest } from "../../src/journal/config-requests.ts";
import { until } from "../until.ts";
import {
  agents,
  answerTo,
  ASKED_BY,
  changes,
  configText,
  done,
  root,
  send,
  service,
  SHOP,
  startAgent,
  useHostThatAllowsRequests,
} from "./host-that-allows-requests.ts";

useHostThatAllowsRequests();

it("a request is carried out once, however often it comes", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  const request = { kind: "add_source", tried, name: "shop", checks: [] };
  const id = send(request);
  await answerTo(id);
  const after = configText();
  service.configRequests.push({ id, asked_by: ASKED_BY, request: { ...request, name: "again" } });
  const beats = service.heartbeats.length;
  await until("further heartbeats", () => service.heartbeats.length > beats + 2);
  expect(configText()).toBe(after);
  await until("one change is reported", () => changes().length === 1);
});

it("an agent that is killed while it adds a source leaves the old config.yaml or the new one, and one event", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  for (const [name, step] of [
    ["at-journal", (id: string) => journalText(id).includes('"adding"')],
    ["at-secret", () => existsSync(join(root.layout.keys, "at-secret.url"))],
    ["at-config", () => configText().includes("at-config:")],
  ] as const) {
    const id = send({ kind: "add_source", tried, name, checks: ["has-orders"] });
    const agent = agents.at(-1);
    await until("the step of the request", () => step(id));
    agent?.process.kill("SIGKILL");
    await agent?.finished;
    await readConfig(root.layout.config, root.layout.root);
    await startAgent();
    expect(await answerTo(id)).toMatchObject({ result: { kind: "add_source", added: name } });
    expect((await readConfig(root.layout.config, root.layout.root)).sources.get(name)?.checks).toHaveLength(
      1,
    );
    await until("the change of the source is reported", () =>
      changes().some(({ source }) => source === name),
    );
    expect(changes().filter(({ source }) => source === name)).toHaveLength(1);
  }
  expect(configText()).toContain("# stays");
});

const journalText = (id: string): string => {
  const path = join(root.layout.configRequests, `${id}.json`);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

it("a request that was carried out is not carried out again, even after the service had it forgotten here", async () => {
  const id = newId("configRequest");
  const takeIt = async () => {
    expect(await journalRequest(root.layout, { id })).toBe(true);
    const entry = await findRequest(root.layout, id);
    if (entry === null) throw new Error("it was not kept");
    return entry;
  };
  const check = (name: string) => {
    const entry = { id: name, query: "select count(*) as n from orders", expect: "n >= 1" };
    return { kind: "check", source: "main", entry } as const;
  };
  const first = await takeIt();
  await changeConfig(root.layout, first, check("one"));
  await updateRequest(root.layout, first, { state: "told" });
  for (let others = 0; others < 200; others++) {
    const other = { id: newId("configRequest") };
    await journalRequest(root.layout, other);
    const entry = await findRequest(root.layout, other.id);
    if (entry !== null) await updateRequest(root.layout, entry, { state: "told" });
  }
  expect(await findRequest(root.layout, id)).toBeNull();

  const before = configText();
  for (const name of ["one", "two"])
    await expect(changeConfig(root.layout, await takeAgain(), check(name))).rejects.toMatchObject({
      code: "request_refused",
    });
  expect(configText()).toBe(before);

  async function takeAgain() {
    return (await findRequest(root.layout, id)) ?? (await takeIt());
  }
});
