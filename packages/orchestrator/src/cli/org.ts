import type { Command } from "commander";
import { createOrg } from "../features/orgs/create-org.ts";
import { listOrgs, type Org } from "../features/orgs/store.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

/** `attestore-server org add|list` */
export function orgCommand(): Command {
  const add = consoleCommand("add", "Create an organisation and its empty log")
    .argument("<name>", "the organisation's name")
    .action((name: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => {
        const org = await console.act("org add", async (tx) => {
          const done = await createOrg(tx, { name, logHost: console.logHost });
          return { orgId: done.id, done };
        });
        return {
          json: orgJson(org),
          talk: [`Created the organisation "${org.name}".`],
          result: org.id,
          next: `attestore-server auth-key create --org ${org.slug}`,
        };
      }),
    );

  const list = consoleCommand("list", "List all organisations").action((options: { json?: boolean }) =>
    runInConsole(options, async ({ db }) => {
      const orgs = await listOrgs(db);
      return {
        json: orgs.map((org) => orgJson(org)),
        ...listing(
          ["ID", "SLUG", "NAME", "CREATED"],
          orgs.map((org) => [org.id, org.slug, org.name, org.created_at.toISOString()]),
          "There is no organisation yet.",
        ),
        ...(orgs.length === 0 ? { next: 'attestore-server org add "My Team"' } : {}),
      };
    }),
  );

  return commandGroup("org", "Organisations", [add, list]);
}

function orgJson(org: Org): object {
  const { id, name, slug, public_log, created_at } = org;
  return { id, created_at: created_at.toISOString(), name, slug, public_log };
}
