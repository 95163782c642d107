import type { ConnectionReference } from "../source-fields.ts";
import type { EngineSettings } from "./settings.ts";

export interface MongodbSettings {
  /** The database in its path is backed up; without one, every database of the server. */
  readonly connection: ConnectionReference;
}

export const mongodbSettings: EngineSettings<MongodbSettings> = {
  fields: ["connection"],
  parse: (fields) => {
    const connection = fields.connection("connection", {
      schemes: ["mongodb", "mongodb+srv"],
      services: false,
    });
    return connection === null ? null : { connection };
  },
};
