import { Progress, Stack, Text } from "@mantine/core";
import { useServedForHosts } from "../../api/served-for-hosts.ts";
import { attach } from "../../text/attach.ts";

const text = attach.packages;
/** Names of a service that other hosts cannot reach. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** For which hosts there is something to install, and how far the build is while there is not. */
export function OtherHosts({ wasMadeWithout = false }: { wasMadeWithout?: boolean }) {
  const packages = useServedForHosts()?.packages;
  if (packages === undefined) return null;
  return (
    <Stack gap={4} role="status">
      {packages.state === "ready" && wasMadeWithout && <Text size="sm">{text.readySince}</Text>}
      {packages.state === "ready" && packages.architectures.length > 0 && (
        <Text size="sm" c="dimmed">
          {text.architectures(packages.architectures)}
        </Text>
      )}
      {packages.state === "ready" && LOOPBACK.includes(location.hostname) && (
        <Text size="sm">{text.loopback(location.hostname)}</Text>
      )}
      {packages.state === "building" && (
        <>
          <Text size="sm">{text.building(packages.step, packages.steps)}</Text>
          <Progress
            maw={420}
            value={((packages.step - 1) / packages.steps) * 100}
            aria-label={text.progress}
          />
        </>
      )}
      {packages.state === "failed" && <Text size="sm">{text.failed}</Text>}
      {packages.state === "none" && <Text size="sm">{text.none}</Text>}
    </Stack>
  );
}
