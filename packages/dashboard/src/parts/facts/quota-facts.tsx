import type { Schemas } from "@attestore/contract/client";
import { Group, Progress, Stack, Text } from "@mantine/core";
import { quotas as text } from "../../text/quotas.ts";
import { FactList } from "./fact-list.tsx";

type Quotas = Schemas["QuotasRecord"];

const NEARLY = 80;

/** How much of each quota is used. Nearly full ones say so in words, not by colour alone. */
export function QuotaFacts({ quotas }: { quotas: Quotas }) {
  const { requests } = quotas;
  const calls =
    requests.limit === null
      ? text.noLimit
      : text.calls(text.amount("requests", requests.limit), requests.window_s);
  return (
    <FactList
      facts={[
        ...(["bytes", "objects", "agents"] as const).map(
          (name) => [text.names[name], <Quota key={name} name={name} quota={quotas[name]} />] as const,
        ),
        [text.names.requests, calls],
      ]}
    />
  );
}

function Quota({ name, quota }: { name: "bytes" | "objects" | "agents"; quota: Quotas["bytes"] }) {
  const used = text.amount(name, quota.used);
  if (quota.limit === null) return <>{text.unlimited(used)}</>;
  const percent = quota.limit === 0 ? 100 : Math.floor((quota.used / quota.limit) * 100);
  const color = percent >= 100 ? "red" : percent >= NEARLY ? "yellow" : "blue";
  return (
    <Stack gap={4} maw={420}>
      <Group gap="xs">
        <span>{text.used(used, text.amount(name, quota.limit))}</span>
        {percent >= NEARLY && (
          <Text size="sm" fw={600}>
            {percent >= 100 ? text.full : text.percent(percent)}
          </Text>
        )}
      </Group>
      <Progress value={Math.min(100, percent)} color={color} aria-label={text.names[name]} />
    </Stack>
  );
}
