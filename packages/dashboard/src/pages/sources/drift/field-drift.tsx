import { Code, Text } from "@mantine/core";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { sourceText } from "../../../text/sources.ts";
import classes from "./drift.module.css";
import type { Drift } from "../queries.ts";
import { useAgents } from "../../../api/use-agents.ts";

const text = sourceText.drift;

/** One field of the environment, before and after. */
export function FieldDrift({ drift: { field, before, after } }: { drift: Drift }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {text.fields[field] ?? field}
      </Text>
      <dl className={classes["pair"]}>
        <div>
          <dt>{text.before}</dt>
          <dd>
            <Value value={before} />
          </dd>
        </div>
        <div>
          <dt>{text.after}</dt>
          <dd>
            <Value value={after} />
          </dd>
        </div>
      </dl>
    </div>
  );
}

function Value({ value }: { value: unknown }) {
  const agents = useAgents();
  if (typeof value === "string" && value.startsWith("agent_"))
    return <RecordLink id={value}>{agents.nameOf(value)}</RecordLink>;
  if (Array.isArray(value))
    return value.map((one, index) => (
      <div key={index}>
        <Code>{String(one)}</Code>
      </div>
    ));
  return <Code>{typeof value === "string" ? value : (JSON.stringify(value) ?? "–")}</Code>;
}
