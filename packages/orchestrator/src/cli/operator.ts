import type { Command } from "commander";
import { addOperator } from "../features/operators/add-operator.ts";
import { listOperators, type Operator } from "../features/operators/store.ts";
import { relyingParty } from "../features/passkeys/relying-party.ts";
import { ApiError } from "../platform/errors/api-error.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

/** `attestore-server operator add|list`: users of the service itself, never created over HTTP. */
export function operatorCommand(): Command {
  const add = consoleCommand("add", "Make somebody an operator of the service")
    .argument("<email>", "e-mail address for login codes")
    .option("--name <name>", "the person's name")
    .action((email: string, options: { json?: boolean; name?: string }) =>
      runInConsole(
        options,
        async (console) => {
          const operator = await console.act("operator add", async (tx) => ({
            orgId: null,
            done: await addOperator(tx, { email, name: options.name ?? null }),
          }));
          return {
            json: operatorJson(operator),
            talk: [
              `${operator.email} is now an operator of this service.`,
              "They sign in with a code sent by mail, and must add a passkey before they can do anything else.",
              ...passkeyTrouble(console.publicUrl),
            ],
            result: operator.id,
            next: `${new URL("/login", console.publicUrl).href}`,
          };
        },
        { onNew: true },
      ),
    );

  const list = consoleCommand("list", "List all operators").action((options: { json?: boolean }) =>
    runInConsole(options, async ({ db }) => {
      const operators = await listOperators(db);
      return {
        json: operators.map((operator) => operatorJson(operator)),
        ...listing(
          ["ID", "EMAIL", "NAME", "CREATED"],
          operators.map(({ id, email, name, created_at }) => [
            id,
            email,
            name ?? "",
            created_at.toISOString(),
          ]),
          "There is no operator yet.",
        ),
        ...(operators.length === 0 ? { next: "attestore-server operator add you@example.org" } : {}),
      };
    }),
  );

  return commandGroup("operator", "Operators of the service", [add, list]);
}

/** An operator who can't add a passkey can do nothing. */
function passkeyTrouble(publicUrl: string): string[] {
  try {
    relyingParty(publicUrl);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.message];
  }
}

function operatorJson({ id, email, name, created_at }: Operator): object {
  return { id, created_at: created_at.toISOString(), email, name, role: "operator" };
}
