import { Group } from "@mantine/core";
import { StatusMark } from "../../parts/marks/status-mark.tsx";

/** An answer's status; refusals and server errors stand out. */
export function CallStatus({ status }: { status: number }) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex" style={{ whiteSpace: "nowrap" }}>
      <StatusMark
        status={status >= 500 ? "failed" : status >= 400 ? "missed" : "proven"}
        size={14}
        label=""
      />
      {status}
    </Group>
  );
}
