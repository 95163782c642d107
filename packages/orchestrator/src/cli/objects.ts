import { plural } from "@attestore/proof";
import { join } from "node:path";
import type { Command } from "commander";
import { adoptObjects } from "../features/installation/adopt-objects.ts";
import { logHeads } from "../features/installation/installation.ts";
import { type Compared, comparePair } from "../features/installation/pairing.ts";
import { type Survey, surveyObjects } from "../features/installation/survey-objects.ts";
import { putBack, readQuarantine } from "../features/retention/quarantine.ts";
import { sweepObjects } from "../features/retention/sweep-objects.ts";
import { readSignedHeads } from "../log/checkpoints/signed-heads.ts";
import { ApiError, notFound } from "../platform/errors/api-error.ts";
import { silentLogger } from "../platform/logging/logger.ts";
import type { Console } from "./console.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

interface Options {
  json?: boolean;
  yes?: boolean;
  all?: boolean;
}

/** `attestore-server objects status|adopt|quarantine|put-back|sweep` */
export function objectsCommand(): Command {
  return commandGroup("objects", "Compare the object store with the database", [
    statusCommand(),
    adoptCommand(),
    quarantineCommand(),
    putBackCommand(),
    sweepCommand(),
  ]);
}

function statusCommand(): Command {
  return consoleCommand(
    "status",
    "Show whether the objects belong to the database, and which ones it does not know",
  ).action((options: Options) =>
    runInConsole(options, async (console) => {
      const { compared, survey } = await look(console);
      return { json: asJson(compared, survey), result: told(compared, survey).join("\n") };
    }),
  );
}

function adoptCommand(): Command {
  return consoleCommand("adopt", "Declare that the objects belong to this database, so that deletions resume")
    .option("--yes", "do it, instead of only showing what it would do")
    .action((options: Options) =>
      runInConsole(options, async (console) => {
        const { compared, survey } = await look(console);
        const shown = told(compared, survey);
        if (compared.pairing.is === "paired")
          return {
            json: asJson(compared, survey),
            talk: shown,
            result: "The objects already belong to this database.",
          };
        if (options.yes !== true)
          return {
            json: { ...asJson(compared, survey), adopted: false },
            talk: [
              ...shown,
              "",
              "If you adopt the objects, this database decides what is deleted:",
              `- Objects that it does not know (${survey.unknown}) go into quarantine and are removed after ${plural(console.config.quarantineDays, "day")}.`,
              "- A service that uses their former database no longer deletes anything.",
              "- A log that lacks a signed head stays read-only.",
              "If this is the wrong database or bucket, correct DATABASE_URL, ATTESTORE_DATA or ATTESTORE_S3_BUCKET instead.",
            ],
            result: "Nothing was changed.",
            next: "attestore-server objects adopt --yes",
          };
        const signed = await readSignedHeads(join(console.config.data, "signed-heads"));
        const id = await console.act("objects adopt", async () => ({
          orgId: null,
          done: await adoptObjects(console, console.objects, logHeads([...signed.values()])),
        }));
        return {
          json: { ...asJson(compared, survey), adopted: true, installation_id: id },
          talk: shown,
          result: `Adopted: the objects belong to the installation ${id}. A running service resumes deletions within a minute.`,
        };
      }),
    );
}

function quarantineCommand(): Command {
  return consoleCommand("quarantine", "List the objects that the database does not know").action(
    (options: Options) =>
      runInConsole(options, async (console) => {
        const found = [...(await readQuarantine(console.objects.notes)).values()];
        const removal = (since: Date): string =>
          new Date(since.getTime() + console.config.quarantineDays * 86_400_000).toISOString();
        return {
          json: found.map(({ key, since, isKept }) => ({
            key,
            since: since.toISOString(),
            removed_after: isKept ? null : removal(since),
          })),
          ...listing(
            ["KEY", "SINCE", "REMOVED AFTER"],
            found.map(({ key, since, isKept }) => [
              key,
              since.toISOString(),
              isKept ? "never: put back" : removal(since),
            ]),
            "No object is in quarantine.",
          ),
        };
      }),
  );
}

function putBackCommand(): Command {
  return consoleCommand("put-back", "Take objects out of quarantine, so that they are kept")
    .argument("[keys...]", "names from `objects quarantine`")
    .option("--all", "all of them")
    .action((keys: string[], options: Options) =>
      runInConsole(options, async (console) => {
        const found = await readQuarantine(console.objects.notes);
        const chosen = options.all === true ? [...found.keys()] : keys;
        const marks = chosen.map((key) => {
          const mark = found.get(key);
          if (mark === undefined) throw notFound(`object in quarantine: ${key}`);
          return mark;
        });
        await console.act("objects put-back", async () => ({ orgId: null, done: undefined }));
        for (const mark of marks) await putBack(console.objects.notes, mark);
        return { json: { put_back: chosen }, result: `${chosen.length} put back.` };
      }),
    );
}

function sweepCommand(): Command {
  return consoleCommand(
    "sweep",
    "Sweep now, even if the last sweep was stopped because it would remove too many objects",
  )
    .option("--yes", "do it, instead of only showing the objects that the database does not know")
    .action((options: Options) =>
      runInConsole(options, async (console) => {
        const { compared, survey } = await look(console);
        const shown = told(compared, survey);
        if (compared.pairing.is !== "paired")
          throw new ApiError("conflict", `${shown.join("\n")}\nattestore-server objects adopt shows more.`);
        if (options.yes !== true)
          return {
            json: asJson(compared, survey),
            talk: shown,
            result: "Nothing was changed.",
            next: "attestore-server objects sweep --yes",
          };
        const deps = {
          db: console.db,
          objects: console.objects,
          logger: silentLogger,
          quarantineDays: console.config.quarantineDays,
        };
        const report = await console.act("objects sweep", async () => ({
          orgId: null,
          done: await sweepObjects(
            deps,
            { now: new Date(), signal: new AbortController().signal },
            { confirmed: true },
          ),
        }));
        return {
          json: { ...report, at: report.at.toISOString() },
          result: `In quarantine: ${report.quarantined} of ${plural(report.objects, "object")}. Removed: ${report.removed}.`,
        };
      }),
    );
}

async function look(console: Console): Promise<{ compared: Compared; survey: Survey }> {
  const { db, objects } = console;
  return { compared: await comparePair(console, objects), survey: await surveyObjects(db, objects) };
}

function asJson({ pairing, marker, named }: Compared, survey: Survey): Record<string, unknown> {
  return {
    state: pairing.is,
    reason: pairing.is === "held" ? pairing.reason : null,
    message: pairing.is === "held" ? pairing.message : null,
    database_installation_id: named?.id ?? null,
    objects_installation_id: marker?.installationId ?? null,
    objects: survey.objects,
    unknown_objects: survey.unknown,
    unknown_bytes: survey.unknownBytes,
  };
}

function told({ pairing, marker, named }: Compared, survey: Survey): string[] {
  const state = {
    paired: () => "The objects belong to this database.",
    new: () => "The objects and this database match but are not paired yet: the next start pairs them.",
    held: () => `Nothing is deleted: ${pairing.is === "held" ? pairing.message : ""}`,
  }[pairing.is]();
  return [
    state,
    `Installation: ${named?.id ?? "none"} in the database, ${marker?.installationId ?? "none"} in the object store.`,
    `Objects: ${survey.objects}, of which ${survey.unknown} (${survey.unknownBytes} bytes) are unknown to the database.`,
    `Of ${plural(survey.sampled, "newest backup")}, ${survey.absent} ${survey.absent === 1 ? "has" : "have"} no object.`,
  ];
}
