-- A transaction that charges a session after the sweeper failed it. On its own, because a new value can't be used in the
-- transaction that adds it.
alter type txn_kind add value 'settle_late';
