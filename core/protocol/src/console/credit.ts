import { Type, type Static } from 'typebox';
import { CONSOLE_LIMITS, CREDIT_REQUEST_STATUSES } from './constants.ts';
import { Closed, Count, DateTime, Uuid } from '../schema.ts';
import { NAME_PATTERN, TEXT_PATTERN } from '../text-rules.ts';

/** Messages of requests for credit, from customers and to operators. */

const NullableText = Type.Union([Type.String(), Type.Null()]);

export const RequestCredit = Closed(
  {
    minutes: Type.Integer({ minimum: 1, maximum: CONSOLE_LIMITS.creditRequestMinutes }),
    message: Type.String({ maxLength: CONSOLE_LIMITS.creditRequestText, pattern: TEXT_PATTERN }),
  },
  'RequestCredit',
);
export type RequestCredit = Static<typeof RequestCredit>;

export const CreditRequest = Closed(
  {
    id: Uuid,
    requested_at: DateTime,
    requested_ms: Count,
    message: Type.String(),
    status: Type.Enum([...CREDIT_REQUEST_STATUSES]),
    decided_at: Type.Union([DateTime, Type.Null()]),
    granted_ms: Type.Union([Count, Type.Null()]),
    /** The reason that the operator gave. */
    reply: NullableText,
  },
  'CreditRequest',
);
export type CreditRequest = Static<typeof CreditRequest>;
export const CreditRequestList = Closed(
  { available_ms: Count, data: Type.Array(CreditRequest) },
  'CreditRequestList',
);
export type CreditRequestList = Static<typeof CreditRequestList>;

export const OperatorRequestQuery = Closed(
  {
    status: Type.Optional(Type.Enum([...CREDIT_REQUEST_STATUSES])),
    after: Type.Optional(Uuid),
  },
  'OperatorRequestQuery',
);
export type OperatorRequestQuery = Static<typeof OperatorRequestQuery>;
export const OperatorRequest = Closed(
  {
    ...CreditRequest.properties,
    account_id: Uuid,
    account_name: Type.String(),
    requested_by: NullableText,
    available_ms: Count,
    /** Audio charged within 7 days. */
    week_ms: Count,
  },
  'OperatorRequest',
);
export type OperatorRequest = Static<typeof OperatorRequest>;
export const OperatorRequestPage = Closed(
  { data: Type.Array(OperatorRequest), next: Type.Union([Uuid, Type.Null()]) },
  'OperatorRequestPage',
);
export type OperatorRequestPage = Static<typeof OperatorRequestPage>;

/** Without minutes the request is declined. The customer reads the reason. */
export const DecideRequest = Closed(
  {
    minutes: Type.Union([
      Type.Integer({ minimum: 1, maximum: CONSOLE_LIMITS.approvalMinutes }),
      Type.Null(),
    ]),
    reason: Type.String({ maxLength: CONSOLE_LIMITS.reasonLength, pattern: NAME_PATTERN }),
  },
  'DecideRequest',
);
export type DecideRequest = Static<typeof DecideRequest>;
