import classes from "./engine-mark.module.css";

/** Two letters and a colour of each engine; the word follows for those who do not know them. */
const MARKS: Readonly<Record<string, readonly [letters: string, hue: string]>> = {
  postgresql: ["Pg", "blue"],
  mariadb: ["Ma", "brown"],
  mysql: ["My", "orange"],
  mongodb: ["Mo", "green"],
  sqlite: ["Sq", "blue"],
  files: ["Fi", "grey"],
  dumps: ["Du", "grey"],
  restic: ["Re", "brown"],
};

/** Which engine a source has, small enough for a row. */
export function EngineMark({ engine }: { engine: string }) {
  const [letters, hue] = MARKS[engine] ?? [engine.slice(0, 2), "grey"];
  return (
    <abbr className={classes["mark"]} data-hue={hue} title={engine}>
      {letters}
    </abbr>
  );
}
