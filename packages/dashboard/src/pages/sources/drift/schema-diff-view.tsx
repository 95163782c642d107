import { Stack, Text, VisuallyHidden } from "@mantine/core";
import { sourceText } from "../../../text/sources.ts";
import classes from "./drift.module.css";
import type { DiffLine, DiffMark, SchemaDiff } from "./schema-diff.ts";

const text = sourceText.drift;
const SIGNS: Record<DiffMark, string> = { added: "+", removed: "−", altered: "~" };

/** A line-by-line diff: + for added, − for removed, both for altered. */
export function SchemaDiffView({ diff }: { diff: SchemaDiff }) {
  return (
    <Stack gap="xs">
      {diff.isIncomplete && (
        <Text size="sm" c="dimmed">
          {text.incomplete}
        </Text>
      )}
      {diff.objects.length === 0 ? (
        <Text size="sm">{text.sameSummary}</Text>
      ) : (
        <div className={classes["diff"]} role="region" aria-label={text.diffLabel} tabIndex={0}>
          {diff.objects.map(({ title, mark, lines }) => (
            <section key={title} aria-label={`${title}, ${text.marks[mark]}`}>
              <div className={classes["title"]} data-mark={mark}>
                <span aria-hidden="true">{SIGNS[mark]} </span>
                {title}
                <VisuallyHidden>, {text.marks[mark]}</VisuallyHidden>
              </div>
              {lines.map((line) => (
                <Line key={line.name} line={line} />
              ))}
            </section>
          ))}
        </div>
      )}
    </Stack>
  );
}

function Line({ line: { name, before, after } }: { line: DiffLine }) {
  return (
    <>
      {before !== undefined && (
        <del className={classes["removed"]}>
          <span aria-hidden="true">− </span>
          {name} {before}
        </del>
      )}
      {after !== undefined && (
        <ins className={classes["added"]}>
          <span aria-hidden="true">+ </span>
          {name} {after}
        </ins>
      )}
    </>
  );
}
