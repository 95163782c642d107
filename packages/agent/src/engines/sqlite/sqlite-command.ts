/** The hidden command by which the single executable runs `serveSqlite` instead of the agent. */
export const SQLITE_COMMAND = "internal-sqlite";
