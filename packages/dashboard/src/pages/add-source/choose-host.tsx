import { NativeSelect, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { useHosts } from "../../api/use-hosts.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { HostState } from "../../parts/facts/host-state.tsx";
import { addSource } from "../../text/add-source.ts";

const text = addSource.host;

interface ChooseHostProps {
  hosts: ReturnType<typeof useHosts>;
  value: string;
  onChange: (agentId: string) => void;
}

export function ChooseHost({ hosts, value, onChange }: ChooseHostProps) {
  return (
    <QueryResult query={hosts}>
      {(agents) => {
        if (agents.length === 0)
          return (
            <Text>
              {text.none} <Link to="/attach">{text.attach}</Link>
            </Text>
          );
        const agent = agents.find(({ id }) => id === value);
        return (
          <Stack>
            <NativeSelect
              label={text.label}
              maw={420}
              value={value}
              data={[
                { value: "", label: text.choose },
                ...agents.map(({ id, name, hostname }) => ({
                  value: id,
                  label: name === hostname ? name : `${name} (${hostname})`,
                })),
              ]}
              onChange={({ currentTarget }) => onChange(currentTarget.value)}
            />
            {agent !== undefined && <HostState agent={agent} now={hosts.dataUpdatedAt} />}
          </Stack>
        );
      }}
    </QueryResult>
  );
}
