import classes from "./engine-mark.module.css";
import { engineName } from "../../text/engines.ts";

/** Two letters and a colour of each engine; the word follows for those who do not know them. */
const HUES = new Map(
  Object.entries({
    postgresql: "blue",
    mariadb: "brown",
    mysql: "orange",
    mongodb: "green",
    sqlite: "blue",
    restic: "brown",
  }),
);

/** Which engine a source has, small enough for a row. */
export function EngineMark({ engine }: { engine: string }) {
  return (
    <abbr className={classes["mark"]} data-hue={HUES.get(engine)} title={engineName(engine)}>
      {engine === "postgresql" ? "pg" : engine.slice(0, 2)}
    </abbr>
  );
}
