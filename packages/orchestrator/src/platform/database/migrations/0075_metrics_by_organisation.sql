-- The metrics ask for the tests of all sources in one statement. An engine that spreads the rows over several machines has to be told in it that it looks
-- at one organisation at a time (features/sources/read-tests.ts).
select attestore_grant('receipts', 'select (org_id)', '{jobs}');
