import { nearestName } from "@attestore/host/nearest-name";
import { CHECK_TEMPLATES, type CheckTemplate, TABLE_PREFIX } from "../../checks/index.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call } from "../invocation/command.ts";

/**
 * The template of `--template`, which has to fit the engine; null without the flag.
 * @throws UserError usage
 */
export function chosenTemplate({ flags }: Call, engine: string): CheckTemplate | null {
  const name = flags.text("template");
  if (name === undefined) return null;
  const names = CHECK_TEMPLATES.map((each) => each.name);
  const template = CHECK_TEMPLATES.find((each) => each.name === name.toLowerCase());
  if (template === undefined) {
    const near = nearestName(name, names);
    throw new UserError(
      "usage",
      `there is no template "${name}"${near === null ? `; there are ${names.join(", ")}` : `; did you mean "${near}"?`}`,
    );
  }
  if (!template.engines.includes(engine))
    throw new UserError(
      "usage",
      `the template ${template.name} is for sources of ${template.engines.join(", ")}, not of ${engine}`,
    );
  return template;
}

/** `--table-prefix`; undefined without it. @throws UserError usage */
export function givenPrefix({ flags }: Call, template: CheckTemplate | null): string | undefined {
  const prefix = flags.text("tablePrefix");
  if (prefix !== undefined && template?.prefix === "")
    throw new UserError("usage", `${template.application}'s tables have no prefix: leave out --table-prefix`);
  if (prefix === undefined || TABLE_PREFIX.test(prefix)) return prefix;
  throw new UserError("usage", "--table-prefix takes up to 32 letters, digits and _");
}
