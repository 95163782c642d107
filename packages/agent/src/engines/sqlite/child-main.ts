import { serveSqlite } from "./child.ts";

void serveSqlite(process.stdin, process.stdout);
