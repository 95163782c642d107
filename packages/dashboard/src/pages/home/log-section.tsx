import { Text } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { Link } from "@tanstack/react-router";
import { Age } from "../../parts/marks/age.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { home } from "../../text/home.ts";

/** Whether the log works as it should. */
export function LogSection({ log }: { log: Schemas["Overview"]["log"] }) {
  const { tree_size, grown_at, head_signed_at, is_late, is_read_only } = log;
  return (
    <Section title={home.log.heading}>
      <div>
        <Text size="sm">{home.log.entries(tree_size)}</Text>
        {tree_size > 0 && (
          <Text size="sm">
            {home.log.grew}
            <Age at={grown_at} />
          </Text>
        )}
        <Text size="sm">
          {head_signed_at === null ? (
            home.log.neverSigned
          ) : (
            <>
              {home.log.signed}
              <Age at={head_signed_at} />
            </>
          )}
        </Text>
      </div>
      {is_read_only && (
        <Text size="sm" fw={600}>
          <StatusMark status="failed" label="" /> {home.log.readOnly}
        </Text>
      )}
      {is_late && (
        <Text size="sm" fw={600}>
          <StatusMark status="missed" label="" /> {home.log.late}
        </Text>
      )}
      <Text size="sm">
        <Link to={"/log" as string}>{home.log.open}</Link>
      </Text>
    </Section>
  );
}
