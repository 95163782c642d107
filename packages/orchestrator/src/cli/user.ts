import { type Command, Option } from "commander";
import type { OrgRole } from "@attestore/contract";
import { addMember } from "../features/users/add-member.ts";
import { listUsers, type User } from "../features/users/store.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

interface AddOptions {
  json?: boolean;
  org: string;
  role: OrgRole;
  name?: string;
}

const PAGE = 100;

/** `attestore-server user add|list`: who may open an organisation in the dashboard. */
export function userCommand(): Command {
  const add = consoleCommand("add", "Let somebody into an organisation, without an invitation")
    .argument("<email>", "e-mail address for login codes")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .addOption(
      new Option("--role <role>", "what they may do")
        .choices(["owner", "admin", "auditor"])
        .makeOptionMandatory(),
    )
    .option("--name <name>", "the person's name")
    .action((email: string, options: AddOptions) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const user = await console.act("user add", async (tx) => ({
          orgId: org.id,
          done: await addMember(tx, {
            orgId: org.id,
            email,
            role: options.role,
            name: options.name ?? null,
          }),
        }));
        return {
          json: userJson(user),
          talk: [`${user.email} now belongs to "${org.name}", as ${user.role}.`, ...howToSignIn()],
          result: user.id,
          next: new URL("/login", console.publicUrl).href,
        };
      }),
    );

  const list = consoleCommand("list", "List an organisation's users and pending invitations")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .action((options: { json?: boolean; org: string }) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const users: User[] = [];
        for (let before: string | null = null; ; before = users.at(-1)?.id ?? null) {
          const page = { page: { before, limit: PAGE }, from: null, to: null };
          const found = await listUsers(console.db, org.id, page);
          users.push(...found.slice(0, PAGE));
          if (found.length <= PAGE) break;
        }
        return {
          json: users.map((user) => userJson(user)),
          ...listing(
            ["ID", "EMAIL", "NAME", "ROLE", "STATE", "CREATED"],
            users.map(({ id, email, name, role, status, created_at }) => [
              id,
              email,
              name ?? "",
              role,
              status,
              created_at.toISOString(),
            ]),
            "Nobody can open this organisation in the dashboard yet.",
          ),
          ...(users.length === 0
            ? { next: `attestore-server user add you@example.org --org ${org.slug} --role owner` }
            : {}),
        };
      }),
    );

  return commandGroup("user", "Who may open an organisation in the dashboard", [add, list]);
}

/** For the person who adds somebody. */
export function howToSignIn(): string[] {
  return [
    "They sign in with their address and a code that is mailed to them. Without a mail server, the service prints the code.",
  ];
}

export function userJson({ id, email, name, role, status, created_at }: User): object {
  return { id, created_at: created_at.toISOString(), email, name, role, status };
}
