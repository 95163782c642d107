import { beforeAll, describe, expect, test } from "vitest";
import { sizesToCompare } from "../../../packages/verifier/src/pack/files/log-sizes.ts";
import { answerOfPacks } from "../../../packages/verifier/src/pack/answer-of-packs.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import { makeHistory } from "../../../packages/orchestrator/test/history.ts";
import { later, runsOf, setRuns } from "../harness/forgeries.ts";
import { filesOf, save, withManifest, writeZip } from "../harness/packs.ts";
import { makeGoodPack, pinned } from "./good-pack.ts";

const { organisation, logKey, file } = await makeGoodPack();

describe("packs of the same time", () => {
  const together = async (...paths: string[]) => {
    const sizes = await sizesToCompare(paths.map((path) => () => openFileSource(path)));
    const outcomes: PackOutcome[] = [];
    for (const path of paths)
      outcomes.push(await verifyPackFile(path, { logKey, keys: [pinned(organisation.agent)], sizes }));
    const [joined = expect.unreachable()] = answerOfPacks(outcomes, false).joined;
    const overlaps = joined.checks.find(({ id }) => id === "overlaps") ?? expect.unreachable();
    return { outcomes, overlaps, joined };
  };
  let again: string;
  beforeAll(async () => {
    again = await save(file("again-later.zip"), await organisation.pack());
  });

  test("agree, entry by entry and run by run", async () => {
    const { outcomes, overlaps, joined } = await together(file("good.zip"), again);
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(["true", "true"]);
    expect(joined.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect([overlaps.result, overlaps.detail]).toEqual([
      "held",
      "1 pairs of packs, entry by entry and run by run",
    ]);
  });

  test("agree where a source was removed, a key rotated and an agent attached in between", async () => {
    const { service, org, owner, rotated } = organisation;
    const { sourceId } = await makeHistory(service, org, { agent: rotated, slug: "gone" });
    const boundary = new Date().toISOString();
    const before = await save(
      file("before.zip"),
      await organisation.pack(`from=${organisation.from.toISOString()}&to=${boundary}`),
    );
    expect((await owner.delete(`/api/orgs/${org.id}/sources/${sourceId}`)).status).toBe(200);
    await service.attach(org);
    const after = await save(file("after.zip"), await organisation.pack(`from=${boundary}`));
    const made = await together(before, after, file("good.zip"));
    expect(made.joined.checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(made.joined.verdict).toBe("true");
  });

  test("are false if a receipt or a run is in only one of them", async () => {
    const { outcomes } = await together(file("good.zip"), again);
    const [one = expect.unreachable(), other = expect.unreachable()] = outcomes;
    const compared = other.compared ?? expect.unreachable();
    const receipt = [...compared.leaves.keys()].find((id) => id.startsWith("rcpt_")) ?? "";
    const leaves = new Map(compared.leaves);
    leaves.delete(receipt);
    const verdictOf = (change: Partial<typeof compared>) => {
      const { verdict, joined } = answerOfPacks(
        [one, { ...other, compared: { ...compared, ...change } }],
        false,
      );
      return [verdict, joined[0]?.checks.find(({ id }) => id === "overlaps")?.detail];
    };
    expect(verdictOf({ leaves })).toEqual([
      "false",
      expect.stringMatching(
        new RegExp(`${receipt} of .* is in .*good.zip but missing from .*again-later.zip$`),
      ),
    ]);
    expect(verdictOf({ runs: compared.runs.slice(1) })).toEqual([
      "false",
      expect.stringMatching(/^restore_test of src_\w+ at .* is in .*good.zip but missing from /),
    ]);
    // Nothing in one pack alone says that somebody had more time.
    const runs = compared.runs.map((run, n) =>
      n === 3 ? { ...run, deadline_at: later(run.deadline_at, 1) } : run,
    );
    expect(verdictOf({ runs })[0]).toBe("false");
  });

  test("are false if a run differs between them, although each is true by itself", async () => {
    const files = await filesOf(again);
    let changed = 0;
    setRuns(
      files,
      runsOf(files).map((run) => {
        if (changed > 0 || run.status !== "missed" || run.event_id !== null) return run;
        changed += 1;
        return { ...run, deadline_at: later(run.deadline_at, 1) };
      }),
    );
    const { signer } = organisation.service;
    await writeZip(
      file("otherwise.zip"),
      await withManifest(files, (origin, text) => signer.signText(origin, text)),
    );
    const { outcomes, overlaps } = await together(file("good.zip"), file("otherwise.zip"));
    expect([changed, ...outcomes.map(({ verdict }) => verdict)]).toEqual([1, "true", "true"]);
    expect(overlaps.result).toBe("failed");
  });
});
