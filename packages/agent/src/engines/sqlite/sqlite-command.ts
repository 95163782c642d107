/** The hidden command with which the single executable runs `serveSqlite` instead of the agent. */
export const SQLITE_COMMAND = "internal-sqlite";
