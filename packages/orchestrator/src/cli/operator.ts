import type { Command } from "commander";
import { addOperator } from "../features/operators/add-operator.ts";
import { listOperators, type Operator } from "../features/operators/store.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { listing } from "./outcome.ts";

/** `attestore-server operator add|list`: users of the service itself, never made over HTTP. */
export function operatorCommand(): Command {
  const add = consoleCommand("add", "Let somebody operate the service")
    .argument("<email>", "where the login codes go")
    .option("--name <name>", "what people call them")
    .action((email: string, options: { json?: boolean; name?: string }) =>
      runInConsole(options, async (console) => {
        const operator = await console.act("operator add", async (tx) => ({
          orgId: null,
          done: await addOperator(tx, { email, name: options.name ?? null }),
        }));
        return {
          json: operatorJson(operator),
          talk: [`${operator.email} is an operator of this service now.`],
          result: operator.id,
          next: "attestore-server operator list",
        };
      }),
    );

  const list = consoleCommand("list", "Show all operators").action((options: { json?: boolean }) =>
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

  return commandGroup("operator", "Users of the service itself", [add, list]);
}

function operatorJson({ id, email, name, created_at }: Operator): object {
  return { id, created_at: created_at.toISOString(), email, name, role: "operator" };
}
