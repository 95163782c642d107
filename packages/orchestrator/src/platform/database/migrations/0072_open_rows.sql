-- For what the service asks every few seconds or once an hour: the rows that are open, without all that ended.
-- step: concurrent
create index concurrently notification_incidents_open on notification_incidents (id) where ended_at is null;
-- step: concurrent
create index concurrently bootstraps_pending on bootstraps (id) where status = 'pending';
-- step: concurrent
create index concurrently rate_limits_windows on rate_limits (window_start);
