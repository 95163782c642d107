import type { Command } from "commander";
import { createOrg } from "../features/orgs/create-org.ts";
import { listOrgs, type Org } from "../features/orgs/store.ts";
import { addMember } from "../features/users/add-member.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";
import { howToSignIn, userJson } from "./user.ts";

/** `attestore-server org add|list` */
export function orgCommand(): Command {
  const add = consoleCommand("add", "Create an organisation and its empty log")
    .argument("<name>", "the organisation's name")
    .option("--owner <email>", "who may open it in the dashboard, and let others in")
    .action((name: string, options: { json?: boolean; owner?: string }) =>
      runInConsole(
        options,
        async (console) => {
          const { org, owner } = await console.act("org add", async (tx) => {
            const org = await createOrg(tx, { name, logHost: console.logHost });
            const email = options.owner;
            const owner =
              email === undefined
                ? null
                : await addMember(tx, { orgId: org.id, email, role: "owner", name: null });
            return { orgId: org.id, done: { org, owner } };
          });
          return {
            json: owner === null ? orgJson(org) : { ...orgJson(org), owner: userJson(owner) },
            talk: [
              `Created the organisation "${org.name}".`,
              ...(owner === null
                ? [
                    `Nobody can open it in the dashboard yet: attestore-server user add you@example.org --org ${org.slug} --role owner`,
                  ]
                : [`${owner.email} owns it. Dashboard: ${console.publicUrl}`, ...howToSignIn()]),
            ],
            result: org.id,
            next: `attestore-server auth-key create --org ${org.slug}`,
          };
        },
        { onNew: true },
      ),
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
