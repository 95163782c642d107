import { Radio, SimpleGrid, Text } from "@mantine/core";
import { useAgentProgram } from "../../api/served-for-hosts.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { EngineMark } from "../../parts/marks/engine-mark.tsx";
import { addSource as text } from "../../text/add-source.ts";
import classes from "./tiles.module.css";

export type Engine = keyof typeof text.engines;
const ENGINES = Object.keys(text.engines) as Engine[];
/** Picked below directories that the host allows. */
const PICKED: readonly Engine[] = ["sqlite", "files"];
/** Whose sources an agent can find by itself. */
const FOUND: readonly Engine[] = ["postgresql", "mariadb", "mysql", ...PICKED];

export const isPicked = (engine: Engine): boolean => PICKED.includes(engine);
export const isFound = (engine: Engine): boolean => FOUND.includes(engine);

export function EngineTiles({
  value,
  onChange,
}: {
  value: Engine | null;
  onChange: (value: Engine) => void;
}) {
  return (
    <Radio.Group
      aria-label={text.steps.engine}
      value={value}
      onChange={(chosen) => onChange(ENGINES.find((engine) => engine === chosen) ?? "postgresql")}
    >
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        {ENGINES.map((engine) => (
          <Radio
            key={engine}
            value={engine}
            label={
              <span className={classes["label"]}>
                <span aria-hidden="true">
                  <EngineMark engine={engine} />
                </span>
                {text.engines[engine]}
              </span>
            }
            classNames={{ root: classes["tile"] ?? "", body: classes["body"] ?? "" }}
          />
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}

/** For engines whose sources need an address, a password or a pattern of names. */
export function OnTheHost({ engine }: { engine: Engine }) {
  const program = useAgentProgram();
  return (
    <>
      <Text size="sm">{text.onHost(text.engines[engine])}</Text>
      <CommandText text={`${program} source add --engine ${engine}`} label={text.onHostCommand} />
    </>
  );
}
