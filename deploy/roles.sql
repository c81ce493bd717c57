-- Creates the database and its roles. Run it once as a superuser, with one password per login:
--
--   psql -U postgres -v owner_password=... -v service_password=... -v operator_password=... -f deploy/roles.sql
--
-- The owner of the tables may grant these roles and nothing else. With CREATEROLE, PostgreSQL 15
-- would let it become any role, including those that run programs on the host.
create role svc_owner login nocreaterole password :'owner_password';
create role svc_api nologin;
create role svc_node nologin;
create role svc_sweeper nologin;
create role svc_console nologin;
create role svc_sign_in nologin;
create role svc_auditor nologin;
create role svc_operator nologin;
create role svc_mover nologin;
create role svc_all nologin;
grant svc_api, svc_node, svc_sweeper, svc_console, svc_sign_in, svc_auditor, svc_operator, svc_mover, svc_all to svc_owner with admin option;
create database svc owner svc_owner;
-- The service on one box (ROLE=all), and an operator. docs/operations/install.md has one login per job, for larger installations.
create role login_service login noinherit password :'service_password';
grant svc_all to login_service;
create role login_operator login noinherit password :'operator_password';
grant svc_operator, svc_auditor to login_operator;
