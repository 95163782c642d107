/** Each with the GiB of its newest backup and how long a restore of it takes, in minutes. */
export const SOURCES = [
  ["orders-db", "postgresql", 18.4, 14],
  ["customers-db", "postgresql", 6.2, 5],
  ["warehouse-db", "postgresql", 41.7, 33],
  ["billing-db", "mariadb", 9.8, 8],
  ["shop-catalogue", "mongodb", 3.1, 3],
  ["analytics", "postgresql", 212, 64],
  ["crm", "mariadb", 5.5, 4],
  ["wiki", "postgresql", 0.8, 1.2],
  ["tickets", "postgresql", 2.7, 2.5],
  ["invoices-archive", "files", 87, 22],
  ["photo-store", "files", 640, 51],
  ["payroll", "postgresql", 0.3, 0.7],
  ["identity", "postgresql", 1.1, 1.4],
] as const;
/** Each source is on one of them. */
export const HOSTS = ["rotterdam-db-1", "rotterdam-db-2", "hamburg-db-1", "antwerp-files-1"] as const;
