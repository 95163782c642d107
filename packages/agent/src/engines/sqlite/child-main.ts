import { serveSqlite } from "./child.ts";

await serveSqlite(process.stdin, process.stdout);
