// index.d.ts
/** Time and timers for a client. Tests pass their own. */
interface Clock {
    /** Milliseconds since 1970, as `Date.now()`. */
    now(): number;
    /** A monotonic time in milliseconds. Default: `now`. */
    elapsed?(): number;
    /** Calls back once, after so many milliseconds. Whatever it returns is handed to `clearTimeout`. */
    setTimeout(callback: () => void, ms: number): unknown;
    /** Cancels a timer; takes what `setTimeout` returned. */
    clearTimeout(handle: unknown): void;
}

/** One thing that was wrong with an argument or a response. */
interface Issue {
    /** Where: `amount`, `actionArguments.refuelERC20.fee.token`, or empty for the whole value. */
    readonly path: string;
    /** What was expected, and what to do. */
    readonly message: string;
}

/** The prefixes of the id types, by what makes an id of a string or keeps a literal one. */
interface IdPrefixes {
    'accountId(text) or as const': 'acc_';
    'counterpartyId(text) or as const': 'cpty_';
    'entityId(text) or as const': 'ent_';
    'ibanId(text) or as const': 'iban_';
    'transferId(text) or as const': 'txfr_';
}
type Id<Source extends keyof IdPrefixes> = `${IdPrefixes[Source]}${string}`;
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
type IdFrom<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'length'>);
/** As {@link IdFrom}, for a payment's destination, which has no other beside it. */
type OneDestination<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'trim'>);

/** Result of checking a value, as Standard Schema defines it. @inline */
type SchemaResult<T> = {
    /** The value, as the schema made it. */
    readonly value: T;
    readonly issues?: undefined;
} | {
    /** The issues of the value. */
    readonly issues: readonly {
        /** What was expected. */
        readonly message: string;
        /** Where in the value. */
        readonly path?: readonly (PropertyKey | {
            /** One step on the way. */
            readonly key: PropertyKey;
        })[] | undefined;
    }[];
};

/** A whole number: a `number` when JavaScript can hold it exactly, otherwise a `bigint`. */
type Integer = number | bigint;
/** A hexadecimal string prefixed with `0x`, as in on-chain libraries. */
type Hex = `0x${string}`;
/** The documented values, and any other string that the platform may send one day. */
type OpenEnum<Known extends string> = Known | (string & {});
/** Free-form key/value data. */
type Metadata = Record<string, unknown>;
/** First page and page size of a list. */
interface PageQuery {
    /** Start after this point: the `nextCursor` of an earlier page. Default: the first page. */
    cursor?: string | undefined;
    /** Items per page, 1 to 100. Not sent by default; the platform then uses 50. */
    limit?: number | undefined;
}

/** The id of an Entity; `entityId(text)` makes one of a `string`. */
type EntityId = `ent_${string}`;
/** Whether a value is a well-formed Entity id; narrows it. */
declare const isEntityId: (value: unknown) => value is EntityId;
declare const entityTypes: readonly ["individual", "business"];
/** The documented types of an Entity. @useDeclaredType */
type KnownEntityType = (typeof entityTypes)[number];
/** One of the documented types of an Entity, or a new one that this version does not know. */
type EntityType = OpenEnum<KnownEntityType>;
/** Whether the Entity type is documented. */
declare const isKnownEntityType: (value: unknown) => value is KnownEntityType;
declare const entityStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Entity. @useDeclaredType */
type KnownEntityStatus = (typeof entityStatuses)[number];
/** One of the documented statuses of an Entity, or a new one that this version does not know. */
type EntityStatus = OpenEnum<KnownEntityStatus>;
/** Whether the Entity status is documented. */
declare const isKnownEntityStatus: (value: unknown) => value is KnownEntityStatus;
declare const kycStatuses: readonly ["not_started", "pending", "incomplete", "under_review", "approved", "rejected"];
/** The documented statuses of identity verification. @useDeclaredType */
type KnownKycStatus = (typeof kycStatuses)[number];
/**
 * One of the documented statuses of identity verification, or a new one that this version does not
 * know.
 */
type KycStatus = OpenEnum<KnownKycStatus>;
/** Whether the KYC status is documented. */
declare const isKnownKycStatus: (value: unknown) => value is KnownKycStatus;
declare const tosStatuses: readonly ["not_started", "pending", "approved"];
/** The documented statuses of the terms of service. @useDeclaredType */
type KnownTosStatus = (typeof tosStatuses)[number];
/**
 * One of the documented statuses of the terms of service, or a new one that this version does not
 * know.
 */
type TosStatus = OpenEnum<KnownTosStatus>;
/** Whether the terms-of-service status is documented. */
declare const isKnownTosStatus: (value: unknown) => value is KnownTosStatus;
/** Response to the creation of an Entity: an {@link Entity} without `status`. */
interface EntityCreated {
    /** Starts with `ent_`. */
    id: EntityId;
    /** The email address that the Entity was created with. */
    email: string;
    /** An individual (verified by KYC) or a business (verified by KYB). */
    type: EntityType;
    /** Status of identity verification; a new Entity has `not_started`. */
    kycStatus: KycStatus;
    /** Status of the terms of service; a new Entity has `not_started`. */
    tosStatus: TosStatus;
    /** Link where the Entity completes identity verification; share it with the Entity. */
    kycLink: string;
    /** Link where the Entity accepts the terms of service; share it with the Entity. */
    tosLink: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** An individual or a business that holds Accounts. */
interface Entity extends EntityCreated {
    /** Whether the Entity is active. */
    status: EntityStatus;
}
/** Input for creating an Entity. */
interface EntityCreateInput {
    /** Email address of the Entity. */
    email: string;
    /** The name of an individual. */
    fullName?: string | undefined;
    /** The name of a business. */
    businessName?: string | undefined;
}
/** Which Entities to list: paging only. */
interface EntityListQuery extends PageQuery {
}

declare const chains: readonly ["ethereum", "base", "arbitrum", "optimism", "polygon"];
/** The documented chains. @useDeclaredType */
type KnownChain = (typeof chains)[number];
/** One of the documented chains, or a new one that this version does not know. */
type Chain = OpenEnum<KnownChain>;
/** Whether the chain is documented. */
declare const isKnownChain: (value: unknown) => value is KnownChain;
/** The configuration of the Platform. The API reference names no call that reads it. */
interface Settings {
    /** When true, new Accounts are configured to earn yield on idle balances. */
    autoEarnEnabled: boolean;
    /** The vault that idle balances of new Accounts are deposited into. */
    autoEarnVault?: string | null | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain: Chain;
    /** Receives webhook notifications; null when they are disabled. */
    webhookUrl?: string | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** The Settings to change; omitted fields stay unchanged. */
interface SettingsUpdateInput {
    /** Auto-earn for new Accounts; enabling it requires `autoEarnVault`, even if one was set earlier. */
    autoEarnEnabled?: boolean | undefined;
    /** A vault: `<protocol>_usdc` or `<protocol>_usds`. */
    autoEarnVault?: string | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain?: KnownChain | undefined;
    /** Where webhook notifications go; null disables them. */
    webhookUrl?: string | null | undefined;
}

/** The id of an Account; `accountId(text)` makes one of a `string`. */
type AccountId = `acc_${string}`;
/** Whether a value is a well-formed Account id; narrows it. */
declare const isAccountId: (value: unknown) => value is AccountId;
declare const accountTypes: readonly ["wallet", "bank"];
/** The documented types of an Account. @useDeclaredType */
type KnownAccountType = (typeof accountTypes)[number];
/** One of the documented types of an Account, or a new one that this version does not know. */
type AccountType = OpenEnum<KnownAccountType>;
/** Whether the Account type is documented. */
declare const isKnownAccountType: (value: unknown) => value is KnownAccountType;
declare const accountStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Account. @useDeclaredType */
type KnownAccountStatus = (typeof accountStatuses)[number];
/** One of the documented statuses of an Account, or a new one that this version does not know. */
type AccountStatus = OpenEnum<KnownAccountStatus>;
/** Whether the Account status is documented. */
declare const isKnownAccountStatus: (value: unknown) => value is KnownAccountStatus;
/** Response to the creation of an Account: fewer fields than an {@link Account}. */
interface AccountCreated {
    /** Starts with `acc_`. */
    id: AccountId;
    /** The Entity that owns the Account. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: AccountType;
    /** The chain that the Account is provisioned on. */
    chain: Chain;
    /** A new Account is `active`. */
    status: AccountStatus;
    /** Whether the Account earns yield on idle balances; set from the Settings at creation. */
    autoEarn: boolean;
    /** A decimal string; its unit and precision are not documented. */
    availableBalance: string;
    /** `USDC` unless the platform says otherwise. */
    currency: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A wallet or bank account that belongs to an Entity and holds balances in one currency. */
interface Account extends AccountCreated {
    /** A decimal string. */
    pendingBalance: string;
    /** A decimal string. */
    lockedBalance: string;
    /** A decimal string. */
    holdingBalance: string;
    /** Free-form data of yours; absent or null when there is none. */
    metadata?: Metadata | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** Input for creating an Account, which is provisioned on the default chain of the Settings. */
interface AccountCreateInput {
    /** The Entity that will own the Account. */
    entityId: IdFrom<'entityId(text) or as const'>;
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. */
    metadata?: Metadata | undefined;
}
/** The fields of an Account to change; omitted fields stay unchanged. */
interface AccountUpdateInput {
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. Whether the platform merges or replaces it is not documented. */
    metadata?: Metadata | undefined;
}
/** Which Accounts to list; add a filter through `options.query`. */
interface AccountListQuery extends PageQuery {
}

/** The id of a Counterparty; `counterpartyId(text)` makes one of a `string`. */
type CounterpartyId = `cpty_${string}`;
/** Whether a value is a well-formed Counterparty id; narrows it. */
declare const isCounterpartyId: (value: unknown) => value is CounterpartyId;
declare const counterpartyTypes: readonly ["wallet", "bank_account"];
/** The documented types of a Counterparty. @useDeclaredType */
type KnownCounterpartyType = (typeof counterpartyTypes)[number];
/** One of the documented types of a Counterparty, or a new one that this version does not know. */
type CounterpartyType = OpenEnum<KnownCounterpartyType>;
/** Whether the Counterparty type is documented. */
declare const isKnownCounterpartyType: (value: unknown) => value is KnownCounterpartyType;
/** An external wallet or bank account that can receive transfers. */
interface Counterparty {
    /** Starts with `cpty_`. */
    id: CounterpartyId;
    /** The Entity that the Counterparty belongs to. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: CounterpartyType;
    /** For bank accounts. */
    bankName?: string | null | undefined;
    /** For bank accounts; masked, only the trailing digits are visible. */
    accountNumber?: string | null | undefined;
    /** For bank accounts. */
    routingNumber?: string | null | undefined;
    /** For wallets. */
    walletAddress?: string | null | undefined;
    /** For wallets. */
    chain?: Chain | null | undefined;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** Which Counterparties to list. */
interface CounterpartyListQuery extends PageQuery {
    /** Only Counterparties of this Entity. */
    entityId?: IdFrom<'entityId(text) or as const'> | undefined;
}

/** The id of a Transfer; `transferId(text)` makes one of a `string`. */
type TransferId = `txfr_${string}`;
/** Whether a value is a well-formed Transfer id; narrows it. */
declare const isTransferId: (value: unknown) => value is TransferId;
declare const transferTypes: readonly ["book", "wire", "on_chain"];
/** The documented types of a Transfer. @useDeclaredType */
type KnownTransferType = (typeof transferTypes)[number];
/** One of the documented types of a Transfer, or a new one that this version does not know. */
type TransferType = OpenEnum<KnownTransferType>;
/** Whether the Transfer type is documented. */
declare const isKnownTransferType: (value: unknown) => value is KnownTransferType;
declare const transferStatuses: readonly ["pending", "processing", "completed", "failed", "cancelled"];
/** The documented statuses of a Transfer. @useDeclaredType */
type KnownTransferStatus = (typeof transferStatuses)[number];
/** One of the documented statuses of a Transfer, or a new one that this version does not know. */
type TransferStatus = OpenEnum<KnownTransferStatus>;
/** Whether the Transfer status is documented; narrows it for a full `switch`. */
declare const isKnownTransferStatus: (value: unknown) => value is KnownTransferStatus;
declare const transferDirections: readonly ["outgoing", "incoming"];
/** The documented directions of a Transfer. @useDeclaredType */
type KnownTransferDirection = (typeof transferDirections)[number];
/** One of the documented directions of a Transfer, or a new one that this version does not know. */
type TransferDirection = OpenEnum<KnownTransferDirection>;
/** Whether the Transfer direction is documented. */
declare const isKnownTransferDirection: (value: unknown) => value is KnownTransferDirection;
/**
 * Response to the creation of a Transfer: fewer fields than a {@link Transfer}.
 */
interface TransferCreated {
    /** Starts with `txfr_`. */
    id: TransferId;
    /** An accepted Transfer is `pending`. */
    status: TransferStatus;
    /** `book` between Accounts of the Platform; `wire` or `on_chain` to a Counterparty. */
    type: TransferType;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A movement of funds from an Account to another Account or to a Counterparty. */
interface Transfer extends TransferCreated {
    /** The Account that the money leaves. */
    sourceAccountId: AccountId;
    /** The Account that the money reaches; present for book transfers. */
    destinationAccountId?: AccountId | null | undefined;
    /** The Counterparty that the money reaches; present for transfers that leave the Platform. */
    counterpartyId?: CounterpartyId | null | undefined;
    /** A decimal string. */
    amount: string;
    /** `USDC` unless the creation named another. */
    currency: string;
    /** `outgoing` or `incoming`. */
    direction: TransferDirection;
    /** The description that was given at creation. */
    description?: string | null | undefined;
}
/**
 * Money to send: from an Account to one destination, `destinationAccountId` or `counterpartyId`. Keep
 * one in a variable with `as const` or `satisfies TransferCreateInput`.
 */
type TransferCreateInput = {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** Another Account of the Platform; then no `counterpartyId`. */
    destinationAccountId: OneDestination<'accountId(text) or as const'>;
    counterpartyId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
} | {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** An external wallet or bank account; then no `destinationAccountId`. */
    counterpartyId: OneDestination<'counterpartyId(text) or as const'>;
    destinationAccountId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
};
/** A payment with its reference. */
type OnceInput = TransferCreateInput & {
    /**
     * The reference: unique permanently, also without regard to case. 1 to 140 printable ASCII
     * characters with a letter or digit, no space at either end.
     */
    readonly description: string;
};
/** Which Transfers to list. */
interface TransferListQuery extends PageQuery {
    /** Only Transfers of this Account. */
    accountId?: IdFrom<'accountId(text) or as const'> | undefined;
}

/** What is known about the whole call: the worst outcome of its attempts. */
type Outcome = 'not_sent' | 'rejected' | 'unknown';
/** One attempt of a call that failed. */
interface Attempt {
    /** What is proven about this attempt alone. */
    readonly outcome: Outcome;
    /** The HTTP status, when an answer began to arrive. */
    readonly status?: number | undefined;
    /** The platform's id of the request, when the answer carried one. */
    readonly requestId?: string | undefined;
    /** Milliseconds from dispatch to failure. */
    readonly durationMs: number;
    /** What happened, in a few words: `status 503`, `ECONNRESET`, `timeout (headers)`. */
    readonly reason: string;
}

/** Where a list stopped; continue with `list({ cursor, limit })`. */
interface ResumePoint {
    /**
     * Asks for the page that failed; on a {@link PaginationError} for the last page that arrived.
     * Undefined stands for the first page. For `transactions.list` it is the `skip`, as text.
     */
    readonly cursor: string | undefined;
    /** The page size in use; undefined when none was sent. */
    readonly limit: number | undefined;
    /**
     * Items handed out so far. On a {@link PaginationError} those of the page that `cursor` asks for
     * are among them.
     */
    readonly itemsYielded: number;
}
/** Which call an error belongs to. */
interface CallIdentity {
    /** The SDK's name of the call, such as `transfers.create`. */
    readonly operation: string;
    readonly method: string;
    /** The path as a template, without ids: `/transfers/{id}`. Of `request`, the path as given. */
    readonly path: string;
}
/** What every error is made from. */
interface ErrorFacts extends Partial<CallIdentity> {
    readonly outcome: Outcome;
    readonly attempts?: readonly Attempt[] | undefined;
    readonly retryable?: boolean | undefined;
    readonly startedAt?: string | undefined;
    readonly idempotencyKey?: string | undefined;
    readonly cause?: unknown;
}
/**
 * The base of every error that this package throws. `outcome` tells whether the call took effect.
 * @example
 * ```ts
 * import { isOutcomeUnknown, PaymentsClient, PaymentsError } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const payments = new PaymentsClient(new Sandbox().clientOptions);
 * try {
 *   await payments.entities.create({ email: 'ada@example.com' });
 * } catch (error) {
 *   if (isOutcomeUnknown(error)) console.log('look before you send again');
 *   else if (error instanceof PaymentsError) console.log('no money moved', error.outcome);
 *   else throw error;
 * }
 * ```
 */
declare class PaymentsError extends Error {
    /**
     * `not_sent`: nothing reached the platform. `rejected`: the platform refused it. `unknown`: it
     * may have taken effect. The worst over all attempts.
     */
    readonly outcome: Outcome;
    /** The SDK's name of the call, such as `transfers.create`; absent when no call was involved. */
    readonly operation: string | undefined;
    /** The HTTP method; absent when no call was involved. */
    readonly method: string | undefined;
    /** The path as a template, without ids: `/transfers/{id}`. Of `request`, the path as given. */
    readonly path: string | undefined;
    /** Every attempt, in order. */
    readonly attempts: readonly Attempt[];
    /**
     * Whether the same call may succeed later. Always false for a `create` that is `unknown`; after
     * an `unknown` update or deletion, check the current state first.
     */
    readonly retryable: boolean;
    /**
     * When the call began, as ISO 8601 text: the `since` of `transfers.reconcile`, unless the payment
     * was tried before. Absent if it never began.
     */
    readonly startedAt?: string;
    /** The key that every attempt carried; only with the option `idempotencyHeader`. */
    readonly idempotencyKey?: string;
    /** Where a list broke off; only on errors thrown while paging. */
    resume?: ResumePoint;
    static [Symbol.hasInstance](value: unknown): boolean;
    /** @hidden */
    constructor(message: string, facts: ErrorFacts);
    /** Everything that a log needs, as plain data; bigints become strings. */
    toJSON(): Record<string, unknown>;
}
/**
 * Options or credentials cannot be used. Nothing was sent, unless a credential function fails
 * before a retry: see `outcome`.
 */
declare class ConfigurationError extends PaymentsError {
}
/**
 * An argument is invalid; `issues` says which and why. Nothing was sent. From `transfers.reconcile`
 * its `outcome` is `unknown`, because the payment is still in doubt.
 */
declare class ValidationError extends PaymentsError {
    /** Everything that was wrong, not only the first. */
    readonly issues: readonly Issue[];
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Pick<ValidationError, 'issues'>);
}
/** What an {@link ApiError} is made from. */
type ApiErrorFacts = ErrorFacts & Pick<ApiError, 'status' | 'code' | 'details' | 'requestId' | 'headers' | 'body' | 'retryAfterMs'>;
/** The platform answered with a status other than success. */
declare class ApiError extends PaymentsError {
    /** The HTTP status. */
    readonly status: number;
    /** The platform's code, when the answer carried an Error body. */
    readonly code: string | undefined;
    /** The platform's additional context, when the answer carried an Error body. */
    readonly details: unknown;
    /** The platform's id of the request; quote it when you contact support. */
    readonly requestId: string | undefined;
    /** The answer's headers by lower-case name, without cookies. */
    readonly headers: Readonly<Record<string, string>>;
    /** The response body as text: its first 2,048 characters, credentials redacted. */
    readonly body: string;
    /** From `Retry-After`: how long to wait, in milliseconds; undefined if not sent. */
    readonly retryAfterMs: number | undefined;
    /** @hidden */
    constructor(message: string, facts: ApiErrorFacts);
}
/** 400: the platform could not make sense of the request. */
declare class BadRequestError extends ApiError {
}
/** 401: the credential is missing, wrong or expired. */
declare class AuthenticationError extends ApiError {
}
/** 403: the credential does not allow this. */
declare class PermissionDeniedError extends ApiError {
}
/** 404: no resource with this id or path. */
declare class NotFoundError extends ApiError {
}
/** 409: the request conflicts with the current state. */
declare class ConflictError extends ApiError {
}
/** 422: the request was understood and refused. */
declare class UnprocessableEntityError extends ApiError {
}
/** 429: too many requests. `retryAfterMs` is set when the platform said how long to wait. */
declare class RateLimitError extends ApiError {
}
/**
 * 500 or above: the platform, or a proxy in front of it, failed. A write may have taken effect,
 * except after 501 and 505.
 */
declare class ServerError extends ApiError {
}
/** The connection failed; `code` says how, `outcome` whether the request may have arrived. */
declare class ConnectionError extends PaymentsError {
    /** The system's code, such as `ECONNREFUSED`, `ENOTFOUND` or `ECONNRESET`. */
    readonly code: string | undefined;
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Partial<Pick<ConnectionError, 'code'>>);
}
/** What a call was doing when its time ran out. */
type TimeoutPhase = 'credential' | 'connect' | 'headers' | 'body' | 'total';
/** A call or attempt timed out; `phase` says during what. */
declare class TimeoutError extends ConnectionError {
    /**
     * `credential`: your credential function did not answer. `connect`, `headers`, `body`: one
     * attempt took longer than `timeout`, or its connection longer than the runtime allows (`code` is
     * then the runtime's, such as `UND_ERR_CONNECT_TIMEOUT`). `total`: the call took longer than
     * `totalTimeout`.
     */
    readonly phase: TimeoutPhase;
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Pick<TimeoutError, 'phase'> & Partial<Pick<TimeoutError, 'code'>>);
}
/** The caller's signal was aborted; `cause` is its reason. */
declare class AbortError extends PaymentsError {
}
/**
 * Why an answer could not be used. `truncated`: cut off; `shape`: not the documented fields;
 * `too_large`: over 16 MiB, or nested more than 64 levels deep.
 */
type InvalidResponseReason = 'empty' | 'not_json' | 'truncated' | 'shape' | 'too_large';
/** The platform answered with 2xx, but the response cannot be used. */
declare class InvalidResponseError extends PaymentsError {
    /** Why it cannot be used. */
    readonly reason: InvalidResponseReason;
    /** The HTTP status. */
    readonly status: number;
    /** The platform's id of the request: quote it to support. */
    readonly requestId: string | undefined;
    /** The start of the answer's text. */
    readonly body: string;
    /** For reason `shape`: what differs from the documented shape. */
    readonly issues: readonly Issue[];
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Pick<InvalidResponseError, 'reason' | 'status' | 'requestId' | 'body' | 'issues'>);
}
/** The list cannot be continued. Items returned so far are valid. */
declare class PaginationError extends PaymentsError {
    /**
     * `missing_cursor`: `hasMore` is true without a usable `nextCursor`. `cursor_loop`: a cursor came
     * twice, or too many pages brought nothing new.
     */
    readonly reason: 'missing_cursor' | 'cursor_loop';
    /** Where the list broke off. */
    resume: ResumePoint;
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Pick<PaginationError, 'reason' | 'resume'>);
}
/** `transfers.waitFor` ended without reaching the wanted status. */
declare class WaitError extends PaymentsError {
    /** What the platform last reported, if it ever did. */
    readonly last: Transfer | undefined;
    /**
     * `failed`: the transfer failed or was cancelled. `timeout`: time ran out, or five polls in a row
     * failed; the money may still move. `regressed`: its status went backwards, or left a final one.
     */
    readonly reason: 'timeout' | 'failed' | 'regressed';
    /** @hidden */
    constructor(message: string, facts: ErrorFacts & Pick<WaitError, 'last' | 'reason'>);
}
/**
 * Why a payment is in doubt. `in_progress`: another call is making it; `in_doubt`: a request may still
 * take effect; `ambiguous`: an operator decides; `conflict`: journal, platform and call disagree;
 * `journal`: it failed.
 */
type InDoubtReason = 'in_progress' | 'in_doubt' | 'ambiguous' | 'conflict' | 'journal';
/**
 * `transfers.createOnce` does not know whether the payment was made, by this call or by an earlier one. The
 * same call may be made again at any time; it sends nothing twice.
 */
declare class PaymentInDoubtError extends PaymentsError {
    /** Why the payment is in doubt. */
    readonly reason: InDoubtReason;
    /** The description of the payment. */
    readonly reference: string;
    /** When the payment was claimed, as ISO 8601; absent without a claim. */
    readonly claimedAt?: string;
    /** When to call again, in milliseconds; undefined when that alone does not help. */
    readonly retryAfterMs: number | undefined;
    /** For reason `ambiguous`: ids of the transfers that may be the payment, at most ten. */
    readonly candidates: readonly TransferId[] | undefined;
}
/** Tells whether a value is an error of this package, from whichever copy of it. */
declare const isPaymentsError: (value: unknown) => value is PaymentsError;
/** Tells whether a value is an {@link ApiError}: a response with a status other than 2xx. */
declare const isApiError: (value: unknown) => value is ApiError;
/**
 * Tells whether a call may have taken effect: look before you send it again. False for errors from
 * elsewhere, which prove nothing. `startedAt` is set when it is true.
 */
declare const isOutcomeUnknown: (value: unknown) => value is PaymentsError & {
    readonly outcome: "unknown";
    readonly startedAt: string;
};

/** Options of a single call. */
interface RequestOptions {
    /** Aborts the call, including its waits. */
    signal?: AbortSignal | undefined;
    /** Milliseconds for one attempt: headers and body. Default: the client's. */
    timeout?: number | undefined;
    /** Milliseconds for the whole call: waits, retries and bodies. Default: the client's. */
    totalTimeout?: number | undefined;
    /**
     * How often the call may be sent again at most; 0 means never, except once after a 401 when the
     * credential is a function. Default: the client's.
     */
    maxRetries?: number | undefined;
    /** Headers for this call, on top of the client's; `undefined` does not remove one of the client's. */
    headers?: Readonly<Record<string, string | undefined>> | undefined;
    /** Extra query parameters that the document does not name. */
    query?: Readonly<Record<string, QueryValue>> | undefined;
    /** Extra body fields that the document does not name. */
    body?: Readonly<Record<string, unknown>> | undefined;
}
/** The value of a query parameter; undefined is omitted, and an array sends the name once for each. */
type QueryValue = string | number | bigint | boolean | undefined | readonly (string | number | bigint | boolean)[];

/** The call that an event belongs to; never includes a credential. */
interface HookCall {
    /** The SDK's name of the call, such as `transfers.create`. */
    readonly operation: string;
    /** The HTTP method. */
    readonly method: string;
    /** The path as a template, without ids: `/transfers/{id}`. Of `request`, the path as given. */
    readonly path: string;
    /** A number unique to this call: it links the events of one call when calls run concurrently. */
    readonly call: number;
    /** Counts the requests of this call, from 1. */
    readonly attempt: number;
}
/** A request is about to go out. */
interface RequestEvent extends HookCall {
    /** The full URL, with ids and query. */
    readonly url: string;
    /**
     * The headers that go out, without `authorization`. The values of headers whose names suggest a secret
     * (cookie, auth, session, token, password, secret, API key and the like) are redacted.
     */
    readonly headers: Readonly<Record<string, string>>;
}
/** A request has ended, with an answer or without. */
interface ResponseEvent extends HookCall {
    /** The HTTP status; absent when no answer came. */
    readonly status: number | undefined;
    /** The platform's id of the request, when the answer carried one. */
    readonly requestId: string | undefined;
    /** Milliseconds from dispatch to the end of the body, or to the failure. */
    readonly durationMs: number;
    /** `ok` for success, otherwise what the failure of this attempt proves. */
    readonly outcome: 'ok' | Outcome;
    /** Why it failed; absent for success. */
    readonly reason: string | undefined;
}
/** A call is about to be sent again; `attempt` is the number of the request to come. */
interface RetryEvent extends HookCall {
    /** Milliseconds until the retry. */
    readonly delayMs: number;
    /** Why the last attempt failed. */
    readonly reason: string;
}
/** A call is held back before it goes out; it ends at once if it may not wait for so long. */
interface WaitEvent extends HookCall {
    /** Milliseconds that it will probably wait. */
    readonly delayMs: number;
    /** Why: `the platform answered 429`. */
    readonly reason: string;
}
/** A response without the documented shape was returned anyway. */
interface DriftEvent extends Omit<HookCall, 'attempt'> {
    /** The HTTP status. */
    readonly status: number;
    /** The platform's id of the request, when the answer carried one. */
    readonly requestId: string | undefined;
    /** What differs, and where. */
    readonly issues: readonly Issue[];
}
/** Callbacks for logs and traces. Whatever they throw is ignored: a hook never breaks a call. */
interface Hooks {
    /** Before every request, repeated ones included. */
    onRequest?: ((event: RequestEvent) => unknown) | undefined;
    /** After every request, whether an answer came or not. */
    onResponse?: ((event: ResponseEvent) => unknown) | undefined;
    /** Before the wait that precedes a repeated request. */
    onRetry?: ((event: RetryEvent) => unknown) | undefined;
    /** When a call is held back, because the platform has asked this client to slow down (429). */
    onWait?: ((event: WaitEvent) => unknown) | undefined;
    /** When a response with an undocumented shape was returned anyway. */
    onDrift?: ((event: DriftEvent) => unknown) | undefined;
}

/** A custom fetch; receives every request except a GET with a body. */
type Fetch = (input: Request, init?: RequestInit) => Promise<Response>;
/** Sends a GET request together with a body. */
type GetWithBody = (request: Request, body: string) => Promise<Response>;

/** A credential as text, or a function that fetches one. */
type CredentialSource = string | (() => string | Promise<string>);

/** Fields of every entry. */
interface CommonEntry {
    /** The payment; without credentials. */
    readonly input: OnceInput;
    /** The base URL of the platform that the payment belongs to. */
    readonly platform: string;
}
/** Fields of the call that claimed the payment. */
interface ClaimedEntry extends CommonEntry {
    /** Id of the claiming call; unique. */
    readonly claimId: string;
    /** Name of the machine that the claiming call ran on. */
    readonly host: string;
    /** Time of this claim, in milliseconds by the journal's clock. */
    readonly claimedAt: number;
    /** After this time, the request of this claim can no longer take effect. */
    readonly expiresAt: number;
    /** Time of the first claim of this payment; a takeover keeps it. */
    readonly firstClaimedAt: number;
}
/** A call has claimed the payment and may be sending it. */
interface SendingEntry extends ClaimedEntry {
    /** In progress, or left by a process that died. */
    readonly state: 'sending';
}
/** The list shows transfers that may be the payment: an operator decides by `transfers.resolveOnce`. */
interface AmbiguousEntry extends ClaimedEntry {
    /** Undecided. */
    readonly state: 'ambiguous';
    /** Ids of the transfers that may be the payment, at most ten. */
    readonly candidates: readonly TransferId[];
}
/** The payment was made. */
interface PaidEntry extends CommonEntry {
    /** Decided. */
    readonly state: 'paid';
    /** The transfer that was made. */
    readonly transferId: TransferId;
    /** Time of this entry, in milliseconds by the journal's clock. */
    readonly paidAt: number;
    /** Operator who recorded it by `transfers.resolveOnce`; absent when a call did. */
    readonly resolvedBy?: string | undefined;
}
/** An operator has recorded by `transfers.resolveOnce` that no call has made the payment; the next call sends it. */
interface NotPaidEntry extends CommonEntry {
    /** Decided. */
    readonly state: 'not_paid';
    /** Operator who recorded it. */
    readonly resolvedBy?: string | undefined;
    /** Time of the decision, in milliseconds by the journal's clock. */
    readonly resolvedAt: number;
    /** Time of the first claim of this payment. */
    readonly firstClaimedAt: number;
}
/** Entry of one payment in a journal: plain JSON. */
type JournalEntry = SendingEntry | AmbiguousEntry | PaidEntry | NotPaidEntry;
/**
 * Where `transfers.createOnce` records what it is about to do, shared by every process that pays.
 * A write is on disk before `swap` resolves: a journal that loses an entry makes a payment twice.
 * @example
 * ```ts
 * import type { Journal, JournalEntry } from 'payments-platform-sdk/journals';
 *
 * const entries = new Map<string, JournalEntry>();
 * const same = (a?: JournalEntry, b?: JournalEntry) => JSON.stringify(a) === JSON.stringify(b);
 * const journal: Journal = {
 *   read: async (reference) => entries.get(reference),
 *   swap: async (reference, before, after) => {
 *     if (!same(entries.get(reference), before)) return false;
 *     if (after === undefined) entries.delete(reference);
 *     else entries.set(reference, after);
 *     return true;
 *   },
 *   now: async () => Date.now(),
 * };
 * console.log(await journal.read('invoice 4711'));
 * ```
 */
interface Journal {
    /** The entry of the payment with this reference. */
    read(reference: string): Promise<JournalEntry | undefined>;
    /**
     * Writes `after` (undefined: removes the entry) if the entry still is `before`, in one atomic step.
     * Resolves to whether it did.
     */
    swap(reference: string, before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean>;
    /** The time in milliseconds, by one clock for all processes that share the entry of this reference. */
    now(reference: string): Promise<number>;
    /** Whether an entry may be lost; `createOnce` then looks for the transfer before every first claim. */
    readonly forgets?: boolean;
}

/** How a {@link PaymentsClient} is set up. */
interface ClientOptions {
    /**
     * URL of the versioned API; must end in `/v0`. https, or http on a loopback address.
     * @default the environment variable PAYMENTS_BASE_URL
     */
    baseUrl?: string | undefined;
    /**
     * The root of the instruction and transaction endpoints.
     * @default the environment variable PAYMENTS_ROOT_URL if PAYMENTS_BASE_URL is used, else `baseUrl` without its last segment
     */
    rootUrl?: string | undefined;
    /**
     * The API key (`sk_…`), or a function that fetches it; sent to `baseUrl` only. `null`: none.
     * @default the environment variable PAYMENTS_API_KEY
     */
    apiKey?: CredentialSource | null | undefined;
    /**
     * The JWT, or a function that fetches it; sent to `rootUrl` only, for `instructions` and
     * `transactions`. `null`: none. @default the environment variable PAYMENTS_JWT
     */
    jwt?: CredentialSource | null | undefined;
    /** Limit for one attempt, headers and body, in milliseconds. @default 30000 */
    timeout?: number | undefined;
    /** Limit for a whole call, including waits and retries, in milliseconds. @default 120000 */
    totalTimeout?: number | undefined;
    /**
     * Maximum number of retries; 0 still allows one after a 401 if the credential is a function.
     * @default 2
     */
    maxRetries?: number | undefined;
    /** Headers for every request, except `authorization`, which the credentials set. */
    headers?: Readonly<Record<string, string | undefined>> | undefined;
    /**
     * Your own fetch, for everything except GET with a body. A write that fails in it is `unknown`.
     * It must not repeat writes, and pass `init` on. @default the global fetch; on Node.js the
     * dispatcher behind it
     */
    fetch?: Fetch | undefined;
    /**
     * Sends the two GET requests that carry a body, which `fetch` cannot.
     * @default on Node.js the dispatcher behind fetch, on Bun and Deno node:http, elsewhere none
     */
    getWithBody?: GetWithBody | undefined;
    /**
     * What a read of an undocumented shape does: `strict` throws InvalidResponseError, `report`
     * returns it and calls `hooks.onDrift`. @default 'strict'
     */
    validation?: 'strict' | 'report' | undefined;
    /** Callbacks that observe every call. */
    hooks?: Hooks | undefined;
    /**
     * A header for one key per POST, the same on every attempt, such as `Idempotency-Key`. Only if
     * the platform honours it: creations are then sent again after unknown outcomes.
     */
    idempotencyHeader?: string | null | undefined;
    /**
     * Whether the JSON of an error response is the platform's. A write rejected in another form is
     * `unknown`: a proxy may have responded. @default an object with the strings `error` and `code`
     */
    isErrorBody?: ((body: unknown) => boolean) | undefined;
    /**
     * Where `transfers.createOnce` records its payments: one of `payments-platform-sdk/journals`,
     * or your own.
     */
    journal?: Journal | undefined;
    /**
     * For `transfers.createOnce`: how long after its deadline a request may still take effect, in
     * milliseconds; longer than your processes may be suspended. @default 300000
     */
    gracePeriod?: number | undefined;
    /**
     * Permits http to a host that is not loopback, for a sandbox in a container: the network can read
     * the credentials. @default false
     */
    allowHttp?: boolean | undefined;
    /** Time and timers, for tests. @default the system's */
    clock?: Clock | undefined;
}

/** One page of a list of the versioned API. */
interface Page<T> {
    /** The items of this page. */
    data: T[];
    /** Whether more items follow this page. */
    hasMore: boolean;
    /** Where the next page starts; null when there is none. */
    nextCursor: string | null;
}

/** What a call resolves to, and the raw answer beside it. */
interface WithResponse<T> {
    /** What the call resolves to by itself. */
    readonly data: T;
    /** The answer as a Response whose body can still be read. */
    readonly response: Response;
}
/** A promise of a call's result that also gives access to the raw response. */
interface ApiCall<T> extends Promise<T> {
    /** The result together with the raw response: status, headers, body. */
    withResponse(): Promise<WithResponse<T>>;
}

/** Options of `toArray`. */
interface ToArrayOptions {
    /** Items to collect at most; required, because a list has no bound of its own. */
    max: number;
}
/**
 * A lazy list: `await` it for the first page, `for await` it for every item. Each loop starts afresh, and
 * fetches one page ahead once it has asked for its second.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 *
 * const payments = new PaymentsClient();
 * const first = await payments.transfers.list({ limit: 10 });
 * console.log(first.data.length, first.nextCursor);
 *
 * for await (const transfer of payments.transfers.list()) {
 *   console.log(transfer.id, transfer.amount);
 * }
 * ```
 */
interface PagedList<T, P> extends PromiseLike<P>, AsyncIterable<T> {
    /** Like `Promise.prototype.then`, for the first page. */
    then<A = P, B = never>(onFulfilled?: ((page: P) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
    /** For the first page, as on a promise. */
    catch<R = never>(onRejected?: ((reason: unknown) => R | PromiseLike<R>) | null): Promise<P | R>;
    /** For the first page, as on a promise. */
    finally(onFinally?: (() => void) | null): Promise<P>;
    /** The first page together with its raw response. */
    withResponse(): Promise<WithResponse<P>>;
    /** Every page, one after the other. */
    pages(): AsyncIterable<P>;
    /** Collects the first items, at most `max`. */
    toArray(options: ToArrayOptions): Promise<T[]>;
}
/** A list of the versioned API, paged by cursor. Continue one with `list({ cursor })`. */
interface Pager<T> extends PagedList<T, Page<T>> {
}
/** A page of a list that is paged by position. */
interface OffsetPage<T> {
    /** The records of this page. */
    data: T[];
    /** Continue with `list({ skip: nextSkip })`; null after an empty page, which is the last. */
    nextSkip: number | null;
}
/** A list paged by position. It ends with the first empty page: a short page proves nothing. */
interface OffsetPager<T> extends PagedList<T, OffsetPage<T>> {
}

/** Wallet and bank accounts that hold balances for Entities. */
declare class Accounts {
    #private;
    /**
     * Creates an Account under an Entity, on the default chain of the Settings.
     * @throws {@link ApiError} when the platform rejects it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const account = await payments.accounts.create({ entityId: 'ent_000001', name: 'Payroll' });
     * console.log(account.id, account.availableBalance);
     * ```
     */
    create(input: AccountCreateInput, options?: RequestOptions): ApiCall<AccountCreated>;
    /**
     * Lists Accounts: `await` one page, or `for await` all of them.
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * for await (const { id, availableBalance } of payments.accounts.list()) {
     *   console.log(id, availableBalance);
     * }
     * ```
     */
    list(query?: AccountListQuery, options?: RequestOptions): Pager<Account>;
    /**
     * One Account with its balances.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log((await payments.accounts.get('acc_000001')).availableBalance);
     * ```
     */
    get(id: IdFrom<'accountId(text) or as const'>, options?: RequestOptions): ApiCall<Account>;
    /**
     * Changes the display name or the metadata; what is absent stays as it is.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * await payments.accounts.update('acc_000001', { name: 'Operating' });
     * ```
     */
    update(id: IdFrom<'accountId(text) or as const'>, patch: AccountUpdateInput, options?: RequestOptions): ApiCall<Account>;
}

/** External wallets and bank accounts; the API has no call that creates one. */
declare class Counterparties {
    #private;
    /**
     * Lists Counterparties: `await` one page, or `for await` all of them.
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * for await (const { id, name } of payments.counterparties.list()) console.log(id, name);
     * ```
     */
    list(query?: CounterpartyListQuery, options?: RequestOptions): Pager<Counterparty>;
    /**
     * One Counterparty, its account number masked.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log((await payments.counterparties.get('cpty_000001')).name);
     * ```
     */
    get(id: IdFrom<'counterpartyId(text) or as const'>, options?: RequestOptions): ApiCall<Counterparty>;
    /**
     * Deletes a Counterparty for good; pending Transfers to it fail.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * await payments.counterparties.delete('cpty_000001');
     * ```
     */
    delete(id: IdFrom<'counterpartyId(text) or as const'>, options?: RequestOptions): ApiCall<void>;
}

/** Individuals and businesses. */
declare class Entities {
    #private;
    /**
     * Creates an Entity and starts its verification: share `kycLink` and `tosLink` with it.
     * @throws {@link ApiError} when the platform rejects it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const entity = await payments.entities.create({ email: 'grace@example.com' });
     * console.log(entity.id, entity.kycLink);
     * ```
     */
    create(input: EntityCreateInput, options?: RequestOptions): ApiCall<EntityCreated>;
    /**
     * Lists Entities: `await` one page, or `for await` all of them.
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * for await (const { id, kycStatus } of payments.entities.list()) console.log(id, kycStatus);
     * ```
     */
    list(query?: EntityListQuery, options?: RequestOptions): Pager<Entity>;
    /**
     * One Entity with its current verification status.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log((await payments.entities.get('ent_000001')).kycStatus);
     * ```
     */
    get(id: IdFrom<'entityId(text) or as const'>, options?: RequestOptions): ApiCall<Entity>;
}

/** The id of an IBAN (not the IBAN itself); `ibanId(text)` makes one of a `string`. */
type IbanId = `iban_${string}`;
/** Whether a value is a well-formed id of an IBAN; narrows it. */
declare const isIbanId: (value: unknown) => value is IbanId;
declare const ibanStatuses: readonly ["active", "inactive"];
/** The documented statuses of an IBAN. @useDeclaredType */
type KnownIbanStatus = (typeof ibanStatuses)[number];
/** One of the documented statuses of an IBAN, or a new one that this version does not know. */
type IbanStatus = OpenEnum<KnownIbanStatus>;
/** Whether the status of an IBAN is documented. */
declare const isKnownIbanStatus: (value: unknown) => value is KnownIbanStatus;
/** A fiat bank identifier, linked to an Account and an Entity, that accepts deposits. */
interface Iban {
    /** Starts with `iban_`. */
    id: IbanId;
    /** The Entity that the IBAN belongs to. */
    entityId: EntityId;
    /** The Account that deposits reach. */
    accountId: AccountId;
    /** The bank identifier itself. */
    iban: string;
    /** The bank's identifier code. */
    bic: string;
    /** The bank's name. */
    bankName: string;
    /** The fiat currency that the IBAN accepts. */
    currency: string;
    /** Deposits to an IBAN that was deleted are rejected. */
    status: IbanStatus;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** Which IBANs to list. */
interface IbanListQuery extends PageQuery {
    /** Only IBANs of this Entity. */
    entityId?: IdFrom<'entityId(text) or as const'> | undefined;
    /** Only IBANs of this Account. */
    accountId?: IdFrom<'accountId(text) or as const'> | undefined;
}

/** Bank identifiers that accept deposits; the API has no call that creates one. */
declare class Ibans {
    #private;
    /**
     * Lists IBANs: `await` one page, or `for await` all of them.
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * for await (const { iban, status } of payments.ibans.list()) console.log(iban, status);
     * ```
     */
    list(query?: IbanListQuery, options?: RequestOptions): Pager<Iban>;
    /**
     * One IBAN.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log((await payments.ibans.get('iban_000001')).iban);
     * ```
     */
    get(id: IdFrom<'ibanId(text) or as const'>, options?: RequestOptions): ApiCall<Iban>;
    /**
     * Deactivates and deletes an IBAN for good; later deposits to it are rejected.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * await payments.ibans.delete('iban_000001');
     * ```
     */
    delete(id: IdFrom<'ibanId(text) or as const'>, options?: RequestOptions): ApiCall<void>;
}

declare const executionStatuses: readonly ["Deactivated"];
/** The one documented execution status; others exist. @useDeclaredType */
type KnownExecutionStatus = (typeof executionStatuses)[number];
/** `Deactivated`, or one that the API reference does not name. */
type ExecutionStatus = OpenEnum<KnownExecutionStatus>;
/** Whether the execution status is documented. */
declare const isKnownExecutionStatus: (value: unknown) => value is KnownExecutionStatus;
/** How often an Instruction has run, and when it last did. */
interface ExecutionState {
    /** Starts at 0. */
    executionCounter: Integer;
    /** `Deactivated` is the one documented value. */
    executionStatus: ExecutionStatus;
    /** When it last ran; the unit is not documented. */
    lastExecuted: Integer;
}
/** An on-chain automation instruction of an address. */
interface Instruction {
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
    /** How often it has run. */
    executionState: ExecutionState;
    /** Address of the token. */
    instructedTokenAddress: Hex;
    /** Identifies the Instruction. */
    instructionId: Hex;
    /** A whole number as a string. */
    lastInstructedValue: string;
    /** How often it may run. */
    maxExecutions: Integer;
    /** A name for people. */
    nickname: string;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** A whole number as a string. */
    totalInstructedValue: string;
}
/** An instruction payload, built by the platform and not yet on chain. */
interface BuiltInstruction {
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
}
/** What the executor of a refuel may charge and spend. */
interface RefuelERC20Fee {
    /** Address of the token that the fee is paid in. */
    token: Hex;
    /** Upper bound of the base fee, per unit of gas. */
    maxBaseFeePerGas: Integer;
    /** Upper bound of the priority fee, per unit of gas. */
    maxPriorityFeePerGas: Integer;
    /** What one execution costs. */
    executionFee: Integer;
}
/** Arguments of the action `refuelERC20`. Their units are not documented. */
interface RefuelERC20Arguments {
    /** Address of the token to refuel with. */
    token: Hex;
    /** Address that is refuelled. */
    target: Hex;
    /** The balance that triggers a refuel. */
    threshold: Integer;
    /** The balance after a refuel. */
    endBalance: Integer;
    /** What the executor may charge and spend. */
    fee: RefuelERC20Fee;
}
/** Arguments keyed by action kind. `refuelERC20` is checked; any other kind passes through as given. */
interface ActionArguments {
    /** Refills a token balance whenever it falls below a threshold. */
    refuelERC20?: RefuelERC20Arguments | undefined;
    [kind: string]: unknown;
}
/** Input for building an instruction payload. All of it is required. */
interface InstructionBuildInput {
    /** The address that the Instruction is for. */
    address: Hex;
    /** The chain's number, such as 8453. */
    chainId: Integer;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** What to do. */
    actionArguments: ActionArguments;
}
/** Which Instructions to list. */
interface InstructionListInput {
    /** The address that the Instructions belong to. */
    address: Hex;
}

/** On-chain automation. Lives at the root URL and takes the JWT. */
declare class Instructions {
    #private;
    /**
     * Builds an instruction payload; nothing is put on chain by it.
     * @throws {@link ApiError} when the platform rejects it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const address = '0x00000000000000000000000000000000000000aa';
     * const terms = { address, chainId: 8453, salt: 1, maxExecutions: 10 } as const;
     * const actionArguments = { yourOwnKind: { threshold: 5 } };
     * console.log((await payments.instructions.build({ ...terms, actionArguments })).action);
     * ```
     */
    build(input: InstructionBuildInput, options?: RequestOptions): ApiCall<BuiltInstruction>;
    /**
     * The Instructions of an address, all at once. A GET with a body, which Workers and browsers
     * cannot send.
     * @throws {@link ConfigurationError} where the runtime cannot send it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const address = '0x00000000000000000000000000000000000000aa';
     * console.log((await payments.instructions.list({ address })).length);
     * ```
     */
    list(input: InstructionListInput, options?: RequestOptions): ApiCall<Instruction[]>;
}

/**
 * A schema of zod, valibot, arktype or another library that follows Standard Schema, to check a
 * response with. It must be synchronous.
 */
interface ResponseSchema<T> {
    /** The Standard Schema interface; your schema library provides it. */
    readonly '~standard': {
        /** The version of Standard Schema. */
        readonly version: 1;
        /** The library that made it. */
        readonly vendor: string;
        /** Checks a value. */
        readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
        /** For the compiler only. */
        readonly types?: {
            /** What goes in. */
            readonly input: unknown;
            /** What comes out. */
            readonly output: T;
        } | undefined;
    };
}
/** A call that the SDK does not cover. */
interface AnyRequest<T = unknown> {
    /** GET is retried like a read, PUT, PATCH and DELETE like an update, POST like a creation. */
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Relative, encoded, without a query: `/transfers/txfr_1`. */
    path: string;
    /** Which API: `versioned` takes the API key, `root` the JWT. */
    api: 'versioned' | 'root';
    /** Query parameters. */
    query?: Readonly<Record<string, QueryValue>> | undefined;
    /** The JSON body; a GET may have one, too. */
    body?: unknown;
    /**
     * Validates and types the response; without one it is `unknown`. If a write's accepted response
     * does not match, it is returned unvalidated and `hooks.onDrift` is called.
     */
    schema?: ResponseSchema<T> | undefined;
}

/** The configuration of the Platform; the API has no call that reads it. */
declare class PlatformSettings {
    #private;
    /**
     * Changes settings; omitted fields stay unchanged. `webhookUrl: null` disables webhooks.
     * @throws {@link ApiError} when the platform rejects it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log(await payments.settings.update({ defaultChain: 'base' }));
     * ```
     */
    update(patch: SettingsUpdateInput, options?: RequestOptions): ApiCall<Settings>;
}

declare const transactionStatuses: readonly ["Success"];
/** The one documented transaction status; others exist. @useDeclaredType */
type KnownTransactionStatus = (typeof transactionStatuses)[number];
/** `Success`, or one that the API reference does not name. */
type TransactionStatus = OpenEnum<KnownTransactionStatus>;
/** Whether the transaction status is documented. */
declare const isKnownTransactionStatus: (value: unknown) => value is KnownTransactionStatus;
/** One on-chain transaction of an Instruction. */
interface Transaction {
    /** Unix seconds. */
    createdAtUnix: Integer;
    /** Unix seconds. */
    updatedAtUnix: Integer;
    /** Unix seconds. */
    startedAtUnix: Integer;
    /** Unix seconds. */
    finishedAtUnix: Integer;
    /** Block number. */
    startedAtBlock: Integer;
    /** Block number. */
    finishedAtBlock: Integer;
    /** Identifies the transaction on its chain. */
    transactionHash: Hex;
    /** The block that holds it. */
    blockHash: Hex;
    /** The Instruction that it belongs to. */
    instructionId: Hex;
    /** The chain's number. */
    chainId: Integer;
    /** The address that the Instruction belongs to. */
    address: Hex;
    /** Whether it activated the Instruction. */
    activation: boolean;
    /** Whether it deactivated the Instruction. */
    deactivation: boolean;
    /** `Success` is the one documented value. */
    transactionStatus: TransactionStatus;
}
declare const transactionSorts: readonly ["Ascending"];
/** The one documented sort order. @useDeclaredType */
type KnownTransactionSort = (typeof transactionSorts)[number];
/** `Ascending` is documented; any other value is sent as given. */
type TransactionSort = OpenEnum<KnownTransactionSort>;
/** Whether the sort order is documented. */
declare const isKnownTransactionSort: (value: unknown) => value is KnownTransactionSort;
/** Which transactions to list. */
interface TransactionListInput {
    /** The address that the Instructions belong to. */
    address: Hex;
    /** Only transactions of these Instructions. */
    instructionIds?: readonly Hex[] | undefined;
    /** Only transactions from this moment on. A `Date` is sent as an ISO 8601 string. */
    from?: Date | string | undefined;
    /** Only transactions up to this moment. A `Date` is sent as an ISO 8601 string. */
    to?: Date | string | undefined;
    /** `Ascending` is the one documented value. */
    sort?: TransactionSort | undefined;
    /** Number of records to skip. @default 0 */
    skip?: Integer | undefined;
    /** Records per page. Not sent by default; the platform's default is not documented. */
    take?: Integer | undefined;
}

/** What Instructions did on chain. Lives at the root URL and takes the JWT. */
declare class Transactions {
    #private;
    /**
     * Lists the transactions of an address: `await` one page, or `for await` all. A GET with a body,
     * which Workers and browsers cannot send.
     * @throws {@link ConfigurationError} where the runtime cannot send it
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const address = '0x00000000000000000000000000000000000000aa';
     * console.log(await payments.transactions.list({ address }).toArray({ max: 100 }));
     * ```
     */
    list(input: TransactionListInput, options?: RequestOptions): OffsetPager<Transaction>;
}

/** Options of `transfers.reconcile`. */
interface ReconcileOptions extends RequestOptions {
    /**
     * When this payment was first tried: a time from before that call, or `error.startedAt`. If
     * omitted, only an input with a `description` can be `found`. @default 1970
     */
    since?: Date | string | undefined;
    /**
     * How far the two clocks may be apart, in milliseconds: a Transfer so much earlier than `since`
     * is `found` only by its `description`. Grows where responses show more. @default 120000
     */
    clockSkew?: number | undefined;
}
/** Result of a reconciliation. Only `found` is certain. */
type Reconciliation = {
    /** There is exactly one such Transfer. */
    readonly result: 'found';
    /** The Transfer as the list shows it. */
    readonly transfer: Transfer;
} | {
    /**
     * Several match, or one may be older than `since`, cannot be compared in every field, or has
     * this description and other fields: an operator has to decide.
     */
    readonly result: 'ambiguous';
    /** All that match or may match, at most 1,000. */
    readonly candidates: Transfer[];
} | {
    /** None matches among those that were read. */
    readonly result: 'not_found';
    /** How many were read. */
    readonly scanned: number;
};

/** Options of `transfers.createOnce`. */
interface OnceOptions extends RequestOptions {
    /** Where the call records what it is about to do. Default: the client's. */
    journal?: Journal | undefined;
    /**
     * How long after its deadline a request may still take effect and appear in the list, in
     * milliseconds. Default: the client's.
     */
    gracePeriod?: number | undefined;
}
/** Options of `transfers.resolveOnce`. */
interface ResolveOptions extends OnceOptions {
    /** Who decides; kept in the journal's entry. */
    by?: string | undefined;
    /**
     * Accepts `'not_paid'` before the claim has expired, although the list shows the payment, and for
     * an entry of another platform. @default false
     */
    force?: boolean | undefined;
}

/** Options of `transfers.waitFor`. */
interface WaitOptions extends Omit<RequestOptions, 'timeout'> {
    /**
     * When to stop waiting. Unless it accepts them, `failed` and `cancelled` throw a WaitError. @default when
     * the status is `completed`
     */
    until?: ((transfer: Transfer) => boolean | PromiseLike<boolean>) | undefined;
    /**
     * Milliseconds to wait altogether. `totalTimeout` means the same; the smaller holds.
     * @default 600000
     */
    timeout?: number | undefined;
    /** Milliseconds between the first two polls; grows to about 15 seconds. @default 1000 */
    interval?: number | undefined;
    /** Called with the Transfer after every successful poll. */
    onPoll?: ((transfer: Transfer) => unknown) | undefined;
}

/** Movements of funds. */
declare class Transfers {
    #private;
    /**
     * Sends money from an Account; resolves to the accepted Transfer. It is sent again only if the
     * last attempt provably had no effect, or with `idempotencyHeader`.
     * @throws {@link PaymentsError} with an `outcome`: whether money may have moved
     * @example
     * ```ts
     * import { isOutcomeUnknown, PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const input = {
     *   sourceAccountId: 'acc_000001',
     *   destinationAccountId: 'acc_000002',
     *   amount: '12.50',
     * } as const;
     * try {
     *   console.log((await payments.transfers.create(input)).id);
     * } catch (error) {
     *   if (!isOutcomeUnknown(error)) throw error; // No money moved.
     *   console.log(await payments.transfers.reconcile(input, { since: error.startedAt }));
     * }
     * ```
     */
    create(input: TransferCreateInput, options?: RequestOptions): ApiCall<TransferCreated>;
    /**
     * Makes a payment once, for any number of calls and processes; `input.description` is its
     * reference. Needs a shared {@link ClientOptions.journal}. Resolves to the accepted Transfer.
     * @throws {@link PaymentInDoubtError} while that is in doubt: call again after `retryAfterMs`
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     * import { memoryJournal } from 'payments-platform-sdk/journals';
     *
     * const payments = new PaymentsClient({ journal: memoryJournal() });
     * const { id, status } = await payments.transfers.createOnce({
     *   sourceAccountId: 'acc_000001',
     *   destinationAccountId: 'acc_000002',
     *   amount: '12.50',
     *   description: 'invoice 4711',
     * });
     * console.log(id, status);
     * ```
     */
    createOnce(input: OnceInput, options?: OnceOptions): Promise<TransferCreated>;
    /**
     * Records an operator's decision on a payment in doubt: its Transfer's id, or `'not_paid'` to send it
     * at the next `createOnce`.
     * @throws {@link PaymentInDoubtError} `in_doubt` too early, `conflict` if it was made
     * @throws {@link ValidationError} for an unknown reference
     * @example
     * ```ts
     * import { PaymentsClient, ValidationError } from 'payments-platform-sdk';
     * import { memoryJournal } from 'payments-platform-sdk/journals';
     *
     * const payments = new PaymentsClient({ journal: memoryJournal() });
     * try {
     *   await payments.transfers.resolveOnce('invoice 4711', 'txfr_000001', { by: 'ops' });
     * } catch (error) {
     *   if (!(error instanceof ValidationError)) throw error;
     *   console.log('The journal does not know this reference.');
     * }
     * ```
     */
    resolveOnce(reference: string, verdict: IdFrom<'transferId(text) or as const'> | 'not_paid', options?: ResolveOptions): Promise<void>;
    /**
     * Lists Transfers: `await` one page, or `for await` all of them.
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const query = { accountId: 'acc_000001' } as const;
     * for await (const { id, amount } of payments.transfers.list(query)) console.log(id, amount);
     * ```
     */
    list(query?: TransferListQuery, options?: RequestOptions): Pager<Transfer>;
    /**
     * One Transfer.
     * @throws {@link NotFoundError} when there is none with this id
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log((await payments.transfers.get('txfr_000001')).status);
     * ```
     */
    get(id: IdFrom<'transferId(text) or as const'>, options?: RequestOptions): ApiCall<Transfer>;
    /**
     * Polls a Transfer until it is `completed`, and resolves to it.
     * @throws {@link WaitError} with `last`, when it failed, its status went backwards, or time ran
     * out, which proves nothing about the money
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const until = ({ status }: { status: string }) => status !== 'completed';
     * console.log((await payments.transfers.waitFor('txfr_000001', { until })).status);
     * ```
     */
    waitFor(id: IdFrom<'transferId(text) or as const'>, options?: WaitOptions): Promise<Transfer>;
    /**
     * After an unknown outcome: looks for the Transfer among those of its source, and sends nothing.
     * `not_found` proves nothing before `totalTimeout` and some minutes have passed.
     * @throws {@link PaymentsError} with `outcome` `unknown`: reconcile again
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const input = {
     *   sourceAccountId: 'acc_000001',
     *   destinationAccountId: 'acc_000002',
     *   amount: '12.50',
     *   description: 'invoice 4711',
     * } as const;
     * console.log((await payments.transfers.reconcile(input)).result);
     * ```
     */
    reconcile(input: TransferCreateInput, options?: ReconcileOptions): Promise<Reconciliation>;
}

/**
 * A client of the Payments Platform.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const payments = new PaymentsClient(new Sandbox().clientOptions);
 * const entity = await payments.entities.create({ email: 'ada@example.com' });
 * console.log(entity.id, entity.kycStatus);
 * ```
 */
declare class PaymentsClient {
    #private;
    /** Individuals and businesses. */
    readonly entities: Entities;
    /** Wallet and bank accounts that hold balances for Entities. */
    readonly accounts: Accounts;
    /** Movements of funds. */
    readonly transfers: Transfers;
    /** External wallets and bank accounts. */
    readonly counterparties: Counterparties;
    /** Bank identifiers that accept deposits. */
    readonly ibans: Ibans;
    /** The configuration of the Platform. */
    readonly settings: PlatformSettings;
    /** On-chain automation; needs the JWT. */
    readonly instructions: Instructions;
    /** On-chain transactions of Instructions; needs the JWT. */
    readonly transactions: Transactions;
    /**
     * Reads the options and, for what they leave out, the environment, once.
     * @throws {@link ConfigurationError} which names the option and the variable, never the value
     */
    constructor(options?: ClientOptions);
    /**
     * A copy of this client with some options replaced, `headers` and `hooks` as a whole; `null`
     * removes a credential. It shares the retry budget, and a token if its source is unchanged.
     * @throws {@link ConfigurationError} as the constructor does
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * console.log(payments.withOptions({ apiKey: 'sk_of_a_tenant' }).toJSON().baseUrl);
     * ```
     */
    withOptions(options: ClientOptions): PaymentsClient;
    /**
     * Calls an endpoint that the SDK does not cover, with its credentials, deadlines, retries and
     * errors. `path` is relative to the base URL (`versioned`) or the root URL (`root`).
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     *
     * const payments = new PaymentsClient();
     * const body = { defaultChain: 'base' };
     * const request = { method: 'PATCH', path: '/platform/settings', api: 'versioned', body } as const;
     * console.log(await payments.request(request));
     * ```
     */
    request<T = unknown>(request: AnyRequest<T>, options?: RequestOptions): ApiCall<T>;
    /** The two URLs of this client; contains no secret. */
    toJSON(): {
        baseUrl: string;
        rootUrl: string;
    };
}

/**
 * Makes an Account's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 * @example
 * ```ts
 * import { accountId } from 'payments-platform-sdk';
 *
 * const row: { account: string } = { account: 'acc_000001' };
 * console.log(accountId(row.account));
 * ```
 */
declare const accountId: (text: string) => AccountId;
/**
 * Makes a Counterparty's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
declare const counterpartyId: (text: string) => CounterpartyId;
/**
 * Makes an Entity's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
declare const entityId: (text: string) => EntityId;
/**
 * Makes the id of an IBAN (not the IBAN itself) of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
declare const ibanId: (text: string) => IbanId;
/**
 * Makes a Transfer's id of a `string`, as from a database or a request.
 * @throws {@link ValidationError} which says what arrived
 */
declare const transferId: (text: string) => TransferId;

/** What the platform sends with an error status. */
interface ErrorBody {
    /** A message for people. */
    error: string;
    /** A code for programs; its values are not documented. */
    code: string;
    /** Additional context. */
    details?: Record<string, unknown> | null | undefined;
}

/** The version in package.json; a test holds the two together. */
declare const version = "0.2.0";

export { AbortError, type Accounts, ApiError, AuthenticationError, BadRequestError, ConfigurationError, ConflictError, ConnectionError, type Counterparties, type Entities, type Ibans, type Instructions, InvalidResponseError, NotFoundError, PaginationError, PaymentInDoubtError, PaymentsClient, PaymentsError, PermissionDeniedError, type PlatformSettings, RateLimitError, ServerError, TimeoutError, type Transactions, type Transfers, UnprocessableEntityError, ValidationError, WaitError, accountId, counterpartyId, entityId, ibanId, isAccountId, isApiError, isCounterpartyId, isEntityId, isIbanId, isKnownAccountStatus, isKnownAccountType, isKnownChain, isKnownCounterpartyType, isKnownEntityStatus, isKnownEntityType, isKnownExecutionStatus, isKnownIbanStatus, isKnownKycStatus, isKnownTosStatus, isKnownTransactionSort, isKnownTransactionStatus, isKnownTransferDirection, isKnownTransferStatus, isKnownTransferType, isOutcomeUnknown, isPaymentsError, isTransferId, transferId, version };
export type { Account, AccountCreateInput, AccountCreated, AccountId, AccountListQuery, AccountStatus, AccountType, AccountUpdateInput, ActionArguments, AnyRequest, ApiCall, Attempt, BuiltInstruction, Chain, ClientOptions, Clock, Counterparty, CounterpartyId, CounterpartyListQuery, CounterpartyType, CredentialSource, DriftEvent, Entity, EntityCreateInput, EntityCreated, EntityId, EntityListQuery, EntityStatus, EntityType, ErrorBody, ExecutionState, ExecutionStatus, Fetch, GetWithBody, Hex, HookCall, Hooks, Iban, IbanId, IbanListQuery, IbanStatus, IdFrom, InDoubtReason, Instruction, InstructionBuildInput, InstructionListInput, Integer, InvalidResponseReason, Issue, KnownAccountStatus, KnownAccountType, KnownChain, KnownCounterpartyType, KnownEntityStatus, KnownEntityType, KnownExecutionStatus, KnownIbanStatus, KnownKycStatus, KnownTosStatus, KnownTransactionSort, KnownTransactionStatus, KnownTransferDirection, KnownTransferStatus, KnownTransferType, KycStatus, Metadata, OffsetPage, OffsetPager, OnceInput, OnceOptions, OneDestination, OpenEnum, Outcome, Page, PageQuery, PagedList, Pager, QueryValue, ReconcileOptions, Reconciliation, RefuelERC20Arguments, RefuelERC20Fee, RequestEvent, RequestOptions, ResolveOptions, ResponseEvent, ResponseSchema, ResumePoint, RetryEvent, Settings, SettingsUpdateInput, TimeoutPhase, ToArrayOptions, TosStatus, Transaction, TransactionListInput, TransactionSort, TransactionStatus, Transfer, TransferCreateInput, TransferCreated, TransferDirection, TransferId, TransferListQuery, TransferStatus, TransferType, WaitEvent, WaitOptions, WithResponse };

// schemas/index.d.ts
/** The prefixes of the id types, by what makes an id of a string or keeps a literal one. */
interface IdPrefixes {
    'accountId(text) or as const': 'acc_';
    'counterpartyId(text) or as const': 'cpty_';
    'entityId(text) or as const': 'ent_';
    'ibanId(text) or as const': 'iban_';
    'transferId(text) or as const': 'txfr_';
}
type Id<Source extends keyof IdPrefixes> = `${IdPrefixes[Source]}${string}`;
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
type IdFrom<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'length'>);
/** As {@link IdFrom}, for a payment's destination, which has no other beside it. */
type OneDestination<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'trim'>);

/** Result of checking a value, as Standard Schema defines it. @inline */
type SchemaResult<T> = {
    /** The value, as the schema made it. */
    readonly value: T;
    readonly issues?: undefined;
} | {
    /** The issues of the value. */
    readonly issues: readonly {
        /** What was expected. */
        readonly message: string;
        /** Where in the value. */
        readonly path?: readonly (PropertyKey | {
            /** One step on the way. */
            readonly key: PropertyKey;
        })[] | undefined;
    }[];
};
/** One issue that a schema found. */
interface SchemaIssue {
    /** Code of the issue, as in zod: `invalid_type`, `unrecognized_keys`. */
    readonly code: string;
    /** Where in the value. */
    readonly path: readonly PropertyKey[];
    /** What was expected. */
    readonly message: string;
}
/** All issues of a value. */
interface SchemaError {
    /** `$ZodError` or `ZodError`. */
    readonly name: string;
    /** The issues as JSON. */
    readonly message: string;
    /** The single issues. */
    readonly issues: readonly SchemaIssue[];
}
/**
 * A schema that accepts and returns a `T`. Any zod 4 takes it as one of its own
 * (`z.object({ transfer: TransferSchema })`, `z.infer<typeof TransferSchema>`), and so does a library
 * that accepts a Standard Schema.
 */
interface Schema<T> {
    /** Standard Schema, version 1. */
    readonly '~standard': {
        /** The version of Standard Schema. */
        readonly version: 1;
        /** The library that made it: `zod`. */
        readonly vendor: string;
        /** Checks a value; never asynchronous. */
        readonly validate: (value: unknown) => SchemaResult<T>;
        /** For the compiler only. */
        readonly types?: {
            /** What goes in. */
            readonly input: T;
            /** What comes out. */
            readonly output: T;
        } | undefined;
    };
    /**
     * Returns the checked value.
     * @throws an error with `issues` when the value does not match
     */
    parse(value: unknown): T;
    /** Checks a value without throwing; returns the issues. */
    safeParse(value: unknown): {
        /** The value matches. */
        success: true;
        /** The checked value. */
        data: T;
        error?: undefined;
    } | {
        /** The value does not match. */
        success: false;
        data?: undefined;
        /** Its issues. */
        error: SchemaError;
    };
    /**
     * Fields that zod reads of a nested schema. Only the two types are for programs; the other fields
     * differ between its versions, and each version accepts `never`.
     */
    readonly _zod: {
        /** What comes out. */
        output: T;
        /** What goes in. */
        input: T;
        /** For zod alone. @hidden */ version: never;
        /** For zod alone. @hidden */ def: never;
        /** For zod alone. @hidden */ deferred: never;
        /** For zod alone. @hidden */ run: never;
        /** For zod alone. @hidden */ parse: never;
        /** For zod alone. @hidden */ traits: never;
        /** For zod alone. @hidden */ pattern: never;
        /** For zod alone. @hidden */ constr: never;
        /** For zod alone. @hidden */ bag: never;
        /** For zod alone. @hidden */ isst: never;
    };
}

/** A whole number: a `number` when JavaScript can hold it exactly, otherwise a `bigint`. */
type Integer = number | bigint;
/** A hexadecimal string prefixed with `0x`, as in on-chain libraries. */
type Hex = `0x${string}`;
/** The documented values, and any other string that the platform may send one day. */
type OpenEnum<Known extends string> = Known | (string & {});
/** Free-form key/value data. */
type Metadata = Record<string, unknown>;
/** First page and page size of a list. */
interface PageQuery {
    /** Start after this point: the `nextCursor` of an earlier page. Default: the first page. */
    cursor?: string | undefined;
    /** Items per page, 1 to 100. Not sent by default; the platform then uses 50. */
    limit?: number | undefined;
}

/** The id of an Entity; `entityId(text)` makes one of a `string`. */
type EntityId = `ent_${string}`;
declare const entityTypes: readonly ["individual", "business"];
/** The documented types of an Entity. @useDeclaredType */
type KnownEntityType = (typeof entityTypes)[number];
/** One of the documented types of an Entity, or a new one that this version does not know. */
type EntityType = OpenEnum<KnownEntityType>;
declare const entityStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Entity. @useDeclaredType */
type KnownEntityStatus = (typeof entityStatuses)[number];
/** One of the documented statuses of an Entity, or a new one that this version does not know. */
type EntityStatus = OpenEnum<KnownEntityStatus>;
declare const kycStatuses: readonly ["not_started", "pending", "incomplete", "under_review", "approved", "rejected"];
/** The documented statuses of identity verification. @useDeclaredType */
type KnownKycStatus = (typeof kycStatuses)[number];
/**
 * One of the documented statuses of identity verification, or a new one that this version does not
 * know.
 */
type KycStatus = OpenEnum<KnownKycStatus>;
declare const tosStatuses: readonly ["not_started", "pending", "approved"];
/** The documented statuses of the terms of service. @useDeclaredType */
type KnownTosStatus = (typeof tosStatuses)[number];
/**
 * One of the documented statuses of the terms of service, or a new one that this version does not
 * know.
 */
type TosStatus = OpenEnum<KnownTosStatus>;
/** Response to the creation of an Entity: an {@link Entity} without `status`. */
interface EntityCreated {
    /** Starts with `ent_`. */
    id: EntityId;
    /** The email address that the Entity was created with. */
    email: string;
    /** An individual (verified by KYC) or a business (verified by KYB). */
    type: EntityType;
    /** Status of identity verification; a new Entity has `not_started`. */
    kycStatus: KycStatus;
    /** Status of the terms of service; a new Entity has `not_started`. */
    tosStatus: TosStatus;
    /** Link where the Entity completes identity verification; share it with the Entity. */
    kycLink: string;
    /** Link where the Entity accepts the terms of service; share it with the Entity. */
    tosLink: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** An individual or a business that holds Accounts. */
interface Entity extends EntityCreated {
    /** Whether the Entity is active. */
    status: EntityStatus;
}
/** Input for creating an Entity. */
interface EntityCreateInput {
    /** Email address of the Entity. */
    email: string;
    /** The name of an individual. */
    fullName?: string | undefined;
    /** The name of a business. */
    businessName?: string | undefined;
}
/** Which Entities to list: paging only. */
interface EntityListQuery extends PageQuery {
}

declare const chains: readonly ["ethereum", "base", "arbitrum", "optimism", "polygon"];
/** The documented chains. @useDeclaredType */
type KnownChain = (typeof chains)[number];
/** One of the documented chains, or a new one that this version does not know. */
type Chain = OpenEnum<KnownChain>;
/** The configuration of the Platform. The API reference names no call that reads it. */
interface Settings {
    /** When true, new Accounts are configured to earn yield on idle balances. */
    autoEarnEnabled: boolean;
    /** The vault that idle balances of new Accounts are deposited into. */
    autoEarnVault?: string | null | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain: Chain;
    /** Receives webhook notifications; null when they are disabled. */
    webhookUrl?: string | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** The Settings to change; omitted fields stay unchanged. */
interface SettingsUpdateInput {
    /** Auto-earn for new Accounts; enabling it requires `autoEarnVault`, even if one was set earlier. */
    autoEarnEnabled?: boolean | undefined;
    /** A vault: `<protocol>_usdc` or `<protocol>_usds`. */
    autoEarnVault?: string | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain?: KnownChain | undefined;
    /** Where webhook notifications go; null disables them. */
    webhookUrl?: string | null | undefined;
}

/** The id of an Account; `accountId(text)` makes one of a `string`. */
type AccountId = `acc_${string}`;
declare const accountTypes: readonly ["wallet", "bank"];
/** The documented types of an Account. @useDeclaredType */
type KnownAccountType = (typeof accountTypes)[number];
/** One of the documented types of an Account, or a new one that this version does not know. */
type AccountType = OpenEnum<KnownAccountType>;
declare const accountStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Account. @useDeclaredType */
type KnownAccountStatus = (typeof accountStatuses)[number];
/** One of the documented statuses of an Account, or a new one that this version does not know. */
type AccountStatus = OpenEnum<KnownAccountStatus>;
/** Response to the creation of an Account: fewer fields than an {@link Account}. */
interface AccountCreated {
    /** Starts with `acc_`. */
    id: AccountId;
    /** The Entity that owns the Account. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: AccountType;
    /** The chain that the Account is provisioned on. */
    chain: Chain;
    /** A new Account is `active`. */
    status: AccountStatus;
    /** Whether the Account earns yield on idle balances; set from the Settings at creation. */
    autoEarn: boolean;
    /** A decimal string; its unit and precision are not documented. */
    availableBalance: string;
    /** `USDC` unless the platform says otherwise. */
    currency: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A wallet or bank account that belongs to an Entity and holds balances in one currency. */
interface Account extends AccountCreated {
    /** A decimal string. */
    pendingBalance: string;
    /** A decimal string. */
    lockedBalance: string;
    /** A decimal string. */
    holdingBalance: string;
    /** Free-form data of yours; absent or null when there is none. */
    metadata?: Metadata | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** Input for creating an Account, which is provisioned on the default chain of the Settings. */
interface AccountCreateInput {
    /** The Entity that will own the Account. */
    entityId: IdFrom<'entityId(text) or as const'>;
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. */
    metadata?: Metadata | undefined;
}
/** The fields of an Account to change; omitted fields stay unchanged. */
interface AccountUpdateInput {
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. Whether the platform merges or replaces it is not documented. */
    metadata?: Metadata | undefined;
}
/** Which Accounts to list; add a filter through `options.query`. */
interface AccountListQuery extends PageQuery {
}

/** The id of a Counterparty; `counterpartyId(text)` makes one of a `string`. */
type CounterpartyId = `cpty_${string}`;
declare const counterpartyTypes: readonly ["wallet", "bank_account"];
/** The documented types of a Counterparty. @useDeclaredType */
type KnownCounterpartyType = (typeof counterpartyTypes)[number];
/** One of the documented types of a Counterparty, or a new one that this version does not know. */
type CounterpartyType = OpenEnum<KnownCounterpartyType>;
/** An external wallet or bank account that can receive transfers. */
interface Counterparty {
    /** Starts with `cpty_`. */
    id: CounterpartyId;
    /** The Entity that the Counterparty belongs to. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: CounterpartyType;
    /** For bank accounts. */
    bankName?: string | null | undefined;
    /** For bank accounts; masked, only the trailing digits are visible. */
    accountNumber?: string | null | undefined;
    /** For bank accounts. */
    routingNumber?: string | null | undefined;
    /** For wallets. */
    walletAddress?: string | null | undefined;
    /** For wallets. */
    chain?: Chain | null | undefined;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** Which Counterparties to list. */
interface CounterpartyListQuery extends PageQuery {
    /** Only Counterparties of this Entity. */
    entityId?: IdFrom<'entityId(text) or as const'> | undefined;
}

/** What the platform sends with an error status. */
interface ErrorBody {
    /** A message for people. */
    error: string;
    /** A code for programs; its values are not documented. */
    code: string;
    /** Additional context. */
    details?: Record<string, unknown> | null | undefined;
}

/** The id of an IBAN (not the IBAN itself); `ibanId(text)` makes one of a `string`. */
type IbanId = `iban_${string}`;
declare const ibanStatuses: readonly ["active", "inactive"];
/** The documented statuses of an IBAN. @useDeclaredType */
type KnownIbanStatus = (typeof ibanStatuses)[number];
/** One of the documented statuses of an IBAN, or a new one that this version does not know. */
type IbanStatus = OpenEnum<KnownIbanStatus>;
/** A fiat bank identifier, linked to an Account and an Entity, that accepts deposits. */
interface Iban {
    /** Starts with `iban_`. */
    id: IbanId;
    /** The Entity that the IBAN belongs to. */
    entityId: EntityId;
    /** The Account that deposits reach. */
    accountId: AccountId;
    /** The bank identifier itself. */
    iban: string;
    /** The bank's identifier code. */
    bic: string;
    /** The bank's name. */
    bankName: string;
    /** The fiat currency that the IBAN accepts. */
    currency: string;
    /** Deposits to an IBAN that was deleted are rejected. */
    status: IbanStatus;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** Which IBANs to list. */
interface IbanListQuery extends PageQuery {
    /** Only IBANs of this Entity. */
    entityId?: IdFrom<'entityId(text) or as const'> | undefined;
    /** Only IBANs of this Account. */
    accountId?: IdFrom<'accountId(text) or as const'> | undefined;
}

declare const executionStatuses: readonly ["Deactivated"];
/** The one documented execution status; others exist. @useDeclaredType */
type KnownExecutionStatus = (typeof executionStatuses)[number];
/** `Deactivated`, or one that the API reference does not name. */
type ExecutionStatus = OpenEnum<KnownExecutionStatus>;
/** How often an Instruction has run, and when it last did. */
interface ExecutionState {
    /** Starts at 0. */
    executionCounter: Integer;
    /** `Deactivated` is the one documented value. */
    executionStatus: ExecutionStatus;
    /** When it last ran; the unit is not documented. */
    lastExecuted: Integer;
}
/** An on-chain automation instruction of an address. */
interface Instruction {
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
    /** How often it has run. */
    executionState: ExecutionState;
    /** Address of the token. */
    instructedTokenAddress: Hex;
    /** Identifies the Instruction. */
    instructionId: Hex;
    /** A whole number as a string. */
    lastInstructedValue: string;
    /** How often it may run. */
    maxExecutions: Integer;
    /** A name for people. */
    nickname: string;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** A whole number as a string. */
    totalInstructedValue: string;
}
/** An instruction payload, built by the platform and not yet on chain. */
interface BuiltInstruction {
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
}
/** What the executor of a refuel may charge and spend. */
interface RefuelERC20Fee {
    /** Address of the token that the fee is paid in. */
    token: Hex;
    /** Upper bound of the base fee, per unit of gas. */
    maxBaseFeePerGas: Integer;
    /** Upper bound of the priority fee, per unit of gas. */
    maxPriorityFeePerGas: Integer;
    /** What one execution costs. */
    executionFee: Integer;
}
/** Arguments of the action `refuelERC20`. Their units are not documented. */
interface RefuelERC20Arguments {
    /** Address of the token to refuel with. */
    token: Hex;
    /** Address that is refuelled. */
    target: Hex;
    /** The balance that triggers a refuel. */
    threshold: Integer;
    /** The balance after a refuel. */
    endBalance: Integer;
    /** What the executor may charge and spend. */
    fee: RefuelERC20Fee;
}
/** Arguments keyed by action kind. `refuelERC20` is checked; any other kind passes through as given. */
interface ActionArguments {
    /** Refills a token balance whenever it falls below a threshold. */
    refuelERC20?: RefuelERC20Arguments | undefined;
    [kind: string]: unknown;
}
/** Input for building an instruction payload. All of it is required. */
interface InstructionBuildInput {
    /** The address that the Instruction is for. */
    address: Hex;
    /** The chain's number, such as 8453. */
    chainId: Integer;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** What to do. */
    actionArguments: ActionArguments;
}
/** Which Instructions to list. */
interface InstructionListInput {
    /** The address that the Instructions belong to. */
    address: Hex;
}

declare const transactionStatuses: readonly ["Success"];
/** The one documented transaction status; others exist. @useDeclaredType */
type KnownTransactionStatus = (typeof transactionStatuses)[number];
/** `Success`, or one that the API reference does not name. */
type TransactionStatus = OpenEnum<KnownTransactionStatus>;
/** One on-chain transaction of an Instruction. */
interface Transaction {
    /** Unix seconds. */
    createdAtUnix: Integer;
    /** Unix seconds. */
    updatedAtUnix: Integer;
    /** Unix seconds. */
    startedAtUnix: Integer;
    /** Unix seconds. */
    finishedAtUnix: Integer;
    /** Block number. */
    startedAtBlock: Integer;
    /** Block number. */
    finishedAtBlock: Integer;
    /** Identifies the transaction on its chain. */
    transactionHash: Hex;
    /** The block that holds it. */
    blockHash: Hex;
    /** The Instruction that it belongs to. */
    instructionId: Hex;
    /** The chain's number. */
    chainId: Integer;
    /** The address that the Instruction belongs to. */
    address: Hex;
    /** Whether it activated the Instruction. */
    activation: boolean;
    /** Whether it deactivated the Instruction. */
    deactivation: boolean;
    /** `Success` is the one documented value. */
    transactionStatus: TransactionStatus;
}
declare const transactionSorts: readonly ["Ascending"];
/** The one documented sort order. @useDeclaredType */
type KnownTransactionSort = (typeof transactionSorts)[number];
/** `Ascending` is documented; any other value is sent as given. */
type TransactionSort = OpenEnum<KnownTransactionSort>;
/** Which transactions to list. */
interface TransactionListInput {
    /** The address that the Instructions belong to. */
    address: Hex;
    /** Only transactions of these Instructions. */
    instructionIds?: readonly Hex[] | undefined;
    /** Only transactions from this moment on. A `Date` is sent as an ISO 8601 string. */
    from?: Date | string | undefined;
    /** Only transactions up to this moment. A `Date` is sent as an ISO 8601 string. */
    to?: Date | string | undefined;
    /** `Ascending` is the one documented value. */
    sort?: TransactionSort | undefined;
    /** Number of records to skip. @default 0 */
    skip?: Integer | undefined;
    /** Records per page. Not sent by default; the platform's default is not documented. */
    take?: Integer | undefined;
}

/** The id of a Transfer; `transferId(text)` makes one of a `string`. */
type TransferId = `txfr_${string}`;
declare const transferTypes: readonly ["book", "wire", "on_chain"];
/** The documented types of a Transfer. @useDeclaredType */
type KnownTransferType = (typeof transferTypes)[number];
/** One of the documented types of a Transfer, or a new one that this version does not know. */
type TransferType = OpenEnum<KnownTransferType>;
declare const transferStatuses: readonly ["pending", "processing", "completed", "failed", "cancelled"];
/** The documented statuses of a Transfer. @useDeclaredType */
type KnownTransferStatus = (typeof transferStatuses)[number];
/** One of the documented statuses of a Transfer, or a new one that this version does not know. */
type TransferStatus = OpenEnum<KnownTransferStatus>;
declare const transferDirections: readonly ["outgoing", "incoming"];
/** The documented directions of a Transfer. @useDeclaredType */
type KnownTransferDirection = (typeof transferDirections)[number];
/** One of the documented directions of a Transfer, or a new one that this version does not know. */
type TransferDirection = OpenEnum<KnownTransferDirection>;
/**
 * Response to the creation of a Transfer: fewer fields than a {@link Transfer}.
 */
interface TransferCreated {
    /** Starts with `txfr_`. */
    id: TransferId;
    /** An accepted Transfer is `pending`. */
    status: TransferStatus;
    /** `book` between Accounts of the Platform; `wire` or `on_chain` to a Counterparty. */
    type: TransferType;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A movement of funds from an Account to another Account or to a Counterparty. */
interface Transfer extends TransferCreated {
    /** The Account that the money leaves. */
    sourceAccountId: AccountId;
    /** The Account that the money reaches; present for book transfers. */
    destinationAccountId?: AccountId | null | undefined;
    /** The Counterparty that the money reaches; present for transfers that leave the Platform. */
    counterpartyId?: CounterpartyId | null | undefined;
    /** A decimal string. */
    amount: string;
    /** `USDC` unless the creation named another. */
    currency: string;
    /** `outgoing` or `incoming`. */
    direction: TransferDirection;
    /** The description that was given at creation. */
    description?: string | null | undefined;
}
/**
 * Money to send: from an Account to one destination, `destinationAccountId` or `counterpartyId`. Keep
 * one in a variable with `as const` or `satisfies TransferCreateInput`.
 */
type TransferCreateInput = {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** Another Account of the Platform; then no `counterpartyId`. */
    destinationAccountId: OneDestination<'accountId(text) or as const'>;
    counterpartyId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
} | {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** An external wallet or bank account; then no `destinationAccountId`. */
    counterpartyId: OneDestination<'counterpartyId(text) or as const'>;
    destinationAccountId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
};
/** Which Transfers to list. */
interface TransferListQuery extends PageQuery {
    /** Only Transfers of this Account. */
    accountId?: IdFrom<'accountId(text) or as const'> | undefined;
}

/** One page of a list of the versioned API. */
interface Page<T> {
    /** The items of this page. */
    data: T[];
    /** Whether more items follow this page. */
    hasMore: boolean;
    /** Where the next page starts; null when there is none. */
    nextCursor: string | null;
}
/** The page envelope around a schema of one item: one of these, or any other of zod 4. */
declare const pageSchema: <T>(item: {
    readonly _zod: {
        /** What comes out. */
        readonly output: T;
    };
}) => Schema<Page<T>>;

/**
 * The schemas that the client checks with, for forms, queues and tests of your own. Any zod 4 takes
 * them as its own, and so does a library that accepts a Standard Schema. Schemas of responses keep
 * unknown fields, schemas of inputs reject them.
 * @example
 * ```ts
 * import { TransferCreateInputSchema } from 'payments-platform-sdk/schemas';
 *
 * const checked = TransferCreateInputSchema.safeParse({ sourceAccountId: 'acc_1', amount: '-1' });
 * console.log(checked.error?.issues[0]?.message);
 * ```
 *
 * @module payments-platform-sdk/schemas
 */

/** Input for creating an Account; unknown fields are rejected. */
declare const AccountCreateInputSchema: Schema<AccountCreateInput>;
/** Response to the creation of an Account; unknown fields stay. */
declare const AccountCreatedSchema: Schema<AccountCreated>;
/** The id of an Account: its prefix, and nothing that could change a path. */
declare const AccountIdSchema: Schema<AccountId>;
/** The query of a list of Accounts; unknown parameters are rejected. */
declare const AccountListQuerySchema: Schema<AccountListQuery>;
/** An Account as the platform sends it; unknown fields stay. */
declare const AccountSchema: Schema<Account>;
/** The fields of an Account to change; unknown fields are rejected. */
declare const AccountUpdateInputSchema: Schema<AccountUpdateInput>;
/** The id of a Counterparty: its prefix, and nothing that could change a path. */
declare const CounterpartyIdSchema: Schema<CounterpartyId>;
/** The query of a list of Counterparties; unknown parameters are rejected. */
declare const CounterpartyListQuerySchema: Schema<CounterpartyListQuery>;
/** A Counterparty as the platform sends it; unknown fields stay. */
declare const CounterpartySchema: Schema<Counterparty>;
/** Input for creating an Entity; unknown fields are rejected. */
declare const EntityCreateInputSchema: Schema<EntityCreateInput>;
/** Response to the creation of an Entity; unknown fields stay. */
declare const EntityCreatedSchema: Schema<EntityCreated>;
/** The id of an Entity: its prefix, and nothing that could change a path. */
declare const EntityIdSchema: Schema<EntityId>;
/** The query of a list of Entities; unknown parameters are rejected. */
declare const EntityListQuerySchema: Schema<EntityListQuery>;
/** An Entity as the platform sends it; unknown fields stay. */
declare const EntitySchema: Schema<Entity>;
/** The body of an error response; unknown fields stay. */
declare const ErrorBodySchema: Schema<ErrorBody>;
/** The id of an IBAN: its prefix, and nothing that could change a path. */
declare const IbanIdSchema: Schema<IbanId>;
/** The query of a list of IBANs; unknown parameters are rejected. */
declare const IbanListQuerySchema: Schema<IbanListQuery>;
/** An IBAN as the platform sends it; unknown fields stay. */
declare const IbanSchema: Schema<Iban>;
/** A built instruction payload as the platform sends it; unknown fields stay. */
declare const BuiltInstructionSchema: Schema<BuiltInstruction>;
/** How often an Instruction has run; unknown fields stay. */
declare const ExecutionStateSchema: Schema<ExecutionState>;
/** Input for building an instruction payload; unknown action kinds pass through. */
declare const InstructionBuildInputSchema: Schema<InstructionBuildInput>;
/** Which Instructions to list; unknown fields are rejected. */
declare const InstructionListInputSchema: Schema<InstructionListInput>;
/** An Instruction as the platform sends it; unknown fields stay. */
declare const InstructionSchema: Schema<Instruction>;
/** The Settings as the platform sends them; unknown fields stay. */
declare const SettingsSchema: Schema<Settings>;
/** The Settings to change; unknown fields are rejected. */
declare const SettingsUpdateInputSchema: Schema<SettingsUpdateInput>;
/** Which transactions to list; unknown fields are rejected. */
declare const TransactionListInputSchema: Schema<TransactionListInput>;
/** A transaction record as the platform sends it; unknown fields stay. */
declare const TransactionSchema: Schema<Transaction>;
/** Input for sending money: an exact amount and one destination; unknown fields are rejected. */
declare const TransferCreateInputSchema: Schema<TransferCreateInput>;
/** Response to the creation of a Transfer; unknown fields stay. */
declare const TransferCreatedSchema: Schema<TransferCreated>;
/** The id of a Transfer: its prefix, and nothing that could change a path. */
declare const TransferIdSchema: Schema<TransferId>;
/** The query of a list of Transfers; unknown parameters are rejected. */
declare const TransferListQuerySchema: Schema<TransferListQuery>;
/** A Transfer as the platform sends it; unknown fields stay. */
declare const TransferSchema: Schema<Transfer>;

export { AccountCreateInputSchema, AccountCreatedSchema, AccountIdSchema, AccountListQuerySchema, AccountSchema, AccountUpdateInputSchema, BuiltInstructionSchema, CounterpartyIdSchema, CounterpartyListQuerySchema, CounterpartySchema, EntityCreateInputSchema, EntityCreatedSchema, EntityIdSchema, EntityListQuerySchema, EntitySchema, ErrorBodySchema, ExecutionStateSchema, IbanIdSchema, IbanListQuerySchema, IbanSchema, InstructionBuildInputSchema, InstructionListInputSchema, InstructionSchema, SettingsSchema, SettingsUpdateInputSchema, TransactionListInputSchema, TransactionSchema, TransferCreateInputSchema, TransferCreatedSchema, TransferIdSchema, TransferListQuerySchema, TransferSchema, pageSchema };
export type { Account, AccountCreateInput, AccountCreated, AccountId, AccountListQuery, AccountUpdateInput, BuiltInstruction, Counterparty, CounterpartyId, CounterpartyListQuery, Entity, EntityCreateInput, EntityCreated, EntityId, EntityListQuery, ErrorBody, ExecutionState, Iban, IbanId, IbanListQuery, Instruction, InstructionBuildInput, InstructionListInput, Page, Schema, SchemaError, SchemaIssue, Settings, SettingsUpdateInput, Transaction, TransactionListInput, Transfer, TransferCreateInput, TransferCreated, TransferId, TransferListQuery };

// journals/index.d.ts
/** The prefixes of the id types, by what makes an id of a string or keeps a literal one. */
interface IdPrefixes {
    'accountId(text) or as const': 'acc_';
    'counterpartyId(text) or as const': 'cpty_';
    'entityId(text) or as const': 'ent_';
    'ibanId(text) or as const': 'iban_';
    'transferId(text) or as const': 'txfr_';
}
type Id<Source extends keyof IdPrefixes> = `${IdPrefixes[Source]}${string}`;
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
type IdFrom<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'length'>);
/** As {@link IdFrom}, for a payment's destination, which has no other beside it. */
type OneDestination<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'trim'>);

/** The id of a Transfer; `transferId(text)` makes one of a `string`. */
type TransferId = `txfr_${string}`;
/**
 * Money to send: from an Account to one destination, `destinationAccountId` or `counterpartyId`. Keep
 * one in a variable with `as const` or `satisfies TransferCreateInput`.
 */
type TransferCreateInput = {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** Another Account of the Platform; then no `counterpartyId`. */
    destinationAccountId: OneDestination<'accountId(text) or as const'>;
    counterpartyId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
} | {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** An external wallet or bank account; then no `destinationAccountId`. */
    counterpartyId: OneDestination<'counterpartyId(text) or as const'>;
    destinationAccountId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
};
/** A payment with its reference. */
type OnceInput = TransferCreateInput & {
    /**
     * The reference: unique permanently, also without regard to case. 1 to 140 printable ASCII
     * characters with a letter or digit, no space at either end.
     */
    readonly description: string;
};

/** Fields of every entry. */
interface CommonEntry {
    /** The payment; without credentials. */
    readonly input: OnceInput;
    /** The base URL of the platform that the payment belongs to. */
    readonly platform: string;
}
/** Fields of the call that claimed the payment. */
interface ClaimedEntry extends CommonEntry {
    /** Id of the claiming call; unique. */
    readonly claimId: string;
    /** Name of the machine that the claiming call ran on. */
    readonly host: string;
    /** Time of this claim, in milliseconds by the journal's clock. */
    readonly claimedAt: number;
    /** After this time, the request of this claim can no longer take effect. */
    readonly expiresAt: number;
    /** Time of the first claim of this payment; a takeover keeps it. */
    readonly firstClaimedAt: number;
}
/** A call has claimed the payment and may be sending it. */
interface SendingEntry extends ClaimedEntry {
    /** In progress, or left by a process that died. */
    readonly state: 'sending';
}
/** The list shows transfers that may be the payment: an operator decides by `transfers.resolveOnce`. */
interface AmbiguousEntry extends ClaimedEntry {
    /** Undecided. */
    readonly state: 'ambiguous';
    /** Ids of the transfers that may be the payment, at most ten. */
    readonly candidates: readonly TransferId[];
}
/** The payment was made. */
interface PaidEntry extends CommonEntry {
    /** Decided. */
    readonly state: 'paid';
    /** The transfer that was made. */
    readonly transferId: TransferId;
    /** Time of this entry, in milliseconds by the journal's clock. */
    readonly paidAt: number;
    /** Operator who recorded it by `transfers.resolveOnce`; absent when a call did. */
    readonly resolvedBy?: string | undefined;
}
/** An operator has recorded by `transfers.resolveOnce` that no call has made the payment; the next call sends it. */
interface NotPaidEntry extends CommonEntry {
    /** Decided. */
    readonly state: 'not_paid';
    /** Operator who recorded it. */
    readonly resolvedBy?: string | undefined;
    /** Time of the decision, in milliseconds by the journal's clock. */
    readonly resolvedAt: number;
    /** Time of the first claim of this payment. */
    readonly firstClaimedAt: number;
}
/** Entry of one payment in a journal: plain JSON. */
type JournalEntry = SendingEntry | AmbiguousEntry | PaidEntry | NotPaidEntry;
/**
 * Where `transfers.createOnce` records what it is about to do, shared by every process that pays.
 * A write is on disk before `swap` resolves: a journal that loses an entry makes a payment twice.
 * @example
 * ```ts
 * import type { Journal, JournalEntry } from 'payments-platform-sdk/journals';
 *
 * const entries = new Map<string, JournalEntry>();
 * const same = (a?: JournalEntry, b?: JournalEntry) => JSON.stringify(a) === JSON.stringify(b);
 * const journal: Journal = {
 *   read: async (reference) => entries.get(reference),
 *   swap: async (reference, before, after) => {
 *     if (!same(entries.get(reference), before)) return false;
 *     if (after === undefined) entries.delete(reference);
 *     else entries.set(reference, after);
 *     return true;
 *   },
 *   now: async () => Date.now(),
 * };
 * console.log(await journal.read('invoice 4711'));
 * ```
 */
interface Journal {
    /** The entry of the payment with this reference. */
    read(reference: string): Promise<JournalEntry | undefined>;
    /**
     * Writes `after` (undefined: removes the entry) if the entry still is `before`, in one atomic step.
     * Resolves to whether it did.
     */
    swap(reference: string, before: JournalEntry | undefined, after: JournalEntry | undefined): Promise<boolean>;
    /** The time in milliseconds, by one clock for all processes that share the entry of this reference. */
    now(reference: string): Promise<number>;
    /** Whether an entry may be lost; `createOnce` then looks for the transfer before every first claim. */
    readonly forgets?: boolean;
}

/**
 * A journal in the memory of this process, for tests. It ends with the process, so a real payment
 * needs another one.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { memoryJournal } from 'payments-platform-sdk/journals';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const { clientOptions } = new Sandbox();
 * const payments = new PaymentsClient({ ...clientOptions, journal: memoryJournal() });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
declare function memoryJournal({ now }?: {
    now?: () => number;
}): Journal;

/** The table that {@link postgresJournal} needs. */
declare const postgresJournalTable = "CREATE TABLE IF NOT EXISTS payments_journal (\n  reference text PRIMARY KEY,\n  entry text NOT NULL,\n  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()\n)";
/** Rows by the names of their columns. */
type PostgresRows = readonly Readonly<Record<string, unknown>>[];
/** Runs one statement; resolves to its rows, or to an object that has them as `rows`. */
type PostgresQuery = (text: string, values: string[]) => PromiseLike<PostgresRows | {
    /** The rows of the statement. */
    readonly rows: PostgresRows;
}>;
/**
 * A journal in a PostgreSQL table ({@link postgresJournalTable}), with one primary or synchronous standbys.
 * Asynchronous fail-over loses claims and needs `forgets: true`. `query` runs statements outside of
 * transactions, which could be rolled back.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { postgresJournal, type PostgresQuery } from 'payments-platform-sdk/journals';
 *
 * // pg: (text, values) => pool.query(text, values); postgres.js: (text, values) => sql.unsafe(text, values)
 * const query: PostgresQuery = async () => [];
 * const payments = new PaymentsClient({ journal: postgresJournal(query) });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
declare function postgresJournal(query: PostgresQuery, { forgets, }?: {
    /** Whether a fail-over may lose an entry. `createOnce` then searches before every first claim. Default: false. */
    forgets?: boolean | undefined;
}): Journal;

/** Sends one command to Redis, such as `('GET', 'key')`; resolves to its reply. */
type RedisCommand = (...args: [string, ...string[]]) => PromiseLike<unknown>;
/**
 * A journal in Redis or Valkey, under `payments:journal:…`. It needs `appendonly yes`, `appendfsync
 * always` and `maxmemory-policy noeviction`. A claim that is lost while its request is on the way still
 * pays twice.
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { redisJournal, type RedisCommand } from 'payments-platform-sdk/journals';
 *
 * // ioredis: (name, ...args) => redis.call(name, ...args); node-redis: (...args) => client.sendCommand(args)
 * const command: RedisCommand = async () => null;
 * const payments = new PaymentsClient({ journal: redisJournal(command) });
 * console.log(payments.toJSON().baseUrl);
 * ```
 */
declare function redisJournal(command: RedisCommand, { forgets, }?: {
    /**
     * Whether Redis may lose an entry, by its settings, a fail-over or a FLUSHALL. `createOnce` then
     * searches before every first claim. Default: true.
     */
    forgets?: boolean | undefined;
}): Journal;

/**
 * A journal in one SQLite file (`':memory:'` in tests), shared by processes of one machine. Needs Node.js
 * 22.13, Bun or Deno. Throws when the file cannot be opened or written. Waits at most 5 s for a lock.
 * @example
 * ```ts
 * import { sqliteJournal } from 'payments-platform-sdk/journals';
 *
 * const journal = sqliteJournal(':memory:'); // or an absolute path
 * console.log(await journal.read('invoice 4711'));
 * journal.close();
 * ```
 */
declare function sqliteJournal(path: string, { create, }?: {
    /** Whether a journal that does not exist is created. With false, it throws. Default: true. */
    create?: boolean | undefined;
}): Journal & {
    close(): void;
};

export { memoryJournal, postgresJournal, postgresJournalTable, redisJournal, sqliteJournal };
export type { AmbiguousEntry, Journal, JournalEntry, NotPaidEntry, PaidEntry, PostgresQuery, PostgresRows, RedisCommand, SendingEntry };

// sandbox/index.d.ts
import { S as Sandbox } from '../sandbox.js';
export { type A as Account, type B as BuiltInstruction, type C as Counterparty, type E as Entity, type I as Iban, type a as Instruction, type b as SandboxAccountInput, type c as SandboxAccountUpdate, type d as SandboxAccounts, type e as SandboxClientOptions, type f as SandboxClock, type g as SandboxCounterparties, type h as SandboxCounterpartyInput, type i as SandboxCredentials, type j as SandboxEntities, type k as SandboxEntityUpdate, type l as SandboxExecution, type m as SandboxFault, type n as SandboxFaultMoment, type o as SandboxFaultRule, type p as SandboxFaults, type q as SandboxIbanInput, type r as SandboxIbans, type s as SandboxInstructionFromBuilt, type t as SandboxInstructionFromInput, type u as SandboxInstructionInput, type v as SandboxInstructions, type w as SandboxLogEntry, type x as SandboxOperation, type y as SandboxOptions, type z as SandboxRecords, type D as SandboxReply, type F as SandboxRequest, type G as SandboxSettings, type H as SandboxState, type J as SandboxTransactions, type K as SandboxTransfers, type L as Settings, type T as Transaction, type M as Transfer } from '../sandbox.js';

/** What went wrong, and how the platform words it. */
interface SandboxProblem {
    /**
     * A code for programs, such as `insufficient_funds`. The platform's own values are not
     * documented.
     */
    code: string;
    /** The HTTP status that an API call is answered with. */
    status: number;
    /** Facts about the problem. */
    details?: Record<string, unknown> | undefined;
    /** The error that lies behind this one. */
    cause?: unknown;
}
/**
 * Thrown by the sandbox's own methods for what cannot be done, such as funding an Account that does
 * not exist. An API call that meets the same problem is answered with `status` and an error body.
 */
declare class SandboxError extends Error {
    /** Tells it apart from other errors, in a log too. */
    readonly name = "SandboxError";
    /** A code for programs, such as `insufficient_funds`. */
    readonly code: string;
    /** The HTTP status that an API call is answered with. */
    readonly status: number;
    /** Facts about the problem, or null. */
    readonly details: Record<string, unknown> | null;
    constructor(message: string, { code, status, details, cause }: SandboxProblem);
}

/**
 * Fills a sandbox with a small world to look at: a verified business and an individual, funded
 * Accounts, Counterparties of both types, an IBAN, a Transfer in every status and an Instruction
 * that has run twice. Returns the sandbox.
 */
declare function seedDemo(sandbox: Sandbox): Sandbox;

export { Sandbox, SandboxError, seedDemo };
export type { SandboxProblem };

// sandbox.d.ts
/** A whole number: a `number` when JavaScript can hold it exactly, otherwise a `bigint`. */
type Integer = number | bigint;
/** A hexadecimal string prefixed with `0x`, as in on-chain libraries. */
type Hex = `0x${string}`;
/** The documented values, and any other string that the platform may send one day. */
type OpenEnum<Known extends string> = Known | (string & {});
/** Free-form key/value data. */
type Metadata = Record<string, unknown>;

/**
 * A status, headers and a body text, not yet on any wire.
 * @inline
 */
interface Reply {
    /** The HTTP status. */
    status: number;
    /** Headers by name. */
    headers: Record<string, string>;
    /** The text of the body; null when there is none. */
    body: string | null;
}
/** What a door has to show to the caller. */
type SandboxReply = ({
    /**
     * The whole reply; its headers and half of its body and then an end; the same and then
     * silence.
     */
    kind: 'complete' | 'truncated' | 'stalled';
} & Reply) | {
    /** The connection breaks. */
    kind: 'reset';
} | {
    /** Nothing happens until the caller gives up. */
    kind: 'hang';
};

/** The two credentials that a sandbox accepts. */
interface SandboxCredentials {
    /** For versioned endpoints. */
    readonly apiKey: string;
    /** For the instruction and transaction endpoints. */
    readonly jwt: string;
}

/**
 * The rows of one noun in the order of their creation. A row's position is the number in its id, so
 * it never changes and is never given away again, which is what makes cursors stable under
 * insertion, deletion and a restart.
 */
declare class Table<Prefix extends string, Row extends {
    readonly id: `${Prefix}${string}`;
}> {
    #private;
    constructor(prefix: Prefix, noun: string, next: () => number);
    /** Adds the row that `make` returns for the next id. */
    add<Made extends Row>(make: (id: `${Prefix}${string}`) => Made): Made;
    /** Takes these rows in place of its own. Their ids are the prefix and a number. */
    replace(rows: readonly Row[]): void;
    find(id: string): Row | undefined;
    /** @throws SandboxError with status 404 when there is no such row. */
    get(id: string): Row;
    /** @throws SandboxError with status 404 when there is no such row. */
    remove(id: string): Row;
    /** Positions and rows after a position, oldest first. */
    after(position: number): Generator<[position: number, row: Row]>;
    /** Every row, oldest first. */
    all(): Row[];
}

/** The prefixes of the id types, by what makes an id of a string or keeps a literal one. */
interface IdPrefixes {
    'accountId(text) or as const': 'acc_';
    'counterpartyId(text) or as const': 'cpty_';
    'entityId(text) or as const': 'ent_';
    'ibanId(text) or as const': 'iban_';
    'transferId(text) or as const': 'txfr_';
}
type Id<Source extends keyof IdPrefixes> = `${IdPrefixes[Source]}${string}`;
/** An id to pass on: `accountId(text)` makes one of a `string`; `as const` keeps a literal one. */
type IdFrom<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'length'>);
/** As {@link IdFrom}, for a payment's destination, which has no other beside it. */
type OneDestination<Source extends keyof IdPrefixes> = Id<Source> | (Id<Source> & Pick<string, 'trim'>);

/** The id of an Entity; `entityId(text)` makes one of a `string`. */
type EntityId = `ent_${string}`;
declare const entityTypes: readonly ["individual", "business"];
/** The documented types of an Entity. @useDeclaredType */
type KnownEntityType = (typeof entityTypes)[number];
/** One of the documented types of an Entity, or a new one that this version does not know. */
type EntityType = OpenEnum<KnownEntityType>;
declare const entityStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Entity. @useDeclaredType */
type KnownEntityStatus = (typeof entityStatuses)[number];
/** One of the documented statuses of an Entity, or a new one that this version does not know. */
type EntityStatus = OpenEnum<KnownEntityStatus>;
declare const kycStatuses: readonly ["not_started", "pending", "incomplete", "under_review", "approved", "rejected"];
/** The documented statuses of identity verification. @useDeclaredType */
type KnownKycStatus = (typeof kycStatuses)[number];
/**
 * One of the documented statuses of identity verification, or a new one that this version does not
 * know.
 */
type KycStatus = OpenEnum<KnownKycStatus>;
declare const tosStatuses: readonly ["not_started", "pending", "approved"];
/** The documented statuses of the terms of service. @useDeclaredType */
type KnownTosStatus = (typeof tosStatuses)[number];
/**
 * One of the documented statuses of the terms of service, or a new one that this version does not
 * know.
 */
type TosStatus = OpenEnum<KnownTosStatus>;
/** Response to the creation of an Entity: an {@link Entity} without `status`. */
interface EntityCreated {
    /** Starts with `ent_`. */
    id: EntityId;
    /** The email address that the Entity was created with. */
    email: string;
    /** An individual (verified by KYC) or a business (verified by KYB). */
    type: EntityType;
    /** Status of identity verification; a new Entity has `not_started`. */
    kycStatus: KycStatus;
    /** Status of the terms of service; a new Entity has `not_started`. */
    tosStatus: TosStatus;
    /** Link where the Entity completes identity verification; share it with the Entity. */
    kycLink: string;
    /** Link where the Entity accepts the terms of service; share it with the Entity. */
    tosLink: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** An individual or a business that holds Accounts. */
interface Entity extends EntityCreated {
    /** Whether the Entity is active. */
    status: EntityStatus;
}
/** Input for creating an Entity. */
interface EntityCreateInput {
    /** Email address of the Entity. */
    email: string;
    /** The name of an individual. */
    fullName?: string | undefined;
    /** The name of a business. */
    businessName?: string | undefined;
}

declare const chains: readonly ["ethereum", "base", "arbitrum", "optimism", "polygon"];
/** The documented chains. @useDeclaredType */
type KnownChain = (typeof chains)[number];
/** One of the documented chains, or a new one that this version does not know. */
type Chain = OpenEnum<KnownChain>;
/** The configuration of the Platform. The API reference names no call that reads it. */
interface Settings {
    /** When true, new Accounts are configured to earn yield on idle balances. */
    autoEarnEnabled: boolean;
    /** The vault that idle balances of new Accounts are deposited into. */
    autoEarnVault?: string | null | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain: Chain;
    /** Receives webhook notifications; null when they are disabled. */
    webhookUrl?: string | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** The Settings to change; omitted fields stay unchanged. */
interface SettingsUpdateInput {
    /** Auto-earn for new Accounts; enabling it requires `autoEarnVault`, even if one was set earlier. */
    autoEarnEnabled?: boolean | undefined;
    /** A vault: `<protocol>_usdc` or `<protocol>_usds`. */
    autoEarnVault?: string | undefined;
    /** The chain used when creating new Accounts. */
    defaultChain?: KnownChain | undefined;
    /** Where webhook notifications go; null disables them. */
    webhookUrl?: string | null | undefined;
}

/** The id of an Account; `accountId(text)` makes one of a `string`. */
type AccountId = `acc_${string}`;
declare const accountTypes: readonly ["wallet", "bank"];
/** The documented types of an Account. @useDeclaredType */
type KnownAccountType = (typeof accountTypes)[number];
/** One of the documented types of an Account, or a new one that this version does not know. */
type AccountType = OpenEnum<KnownAccountType>;
declare const accountStatuses: readonly ["active", "inactive"];
/** The documented statuses of an Account. @useDeclaredType */
type KnownAccountStatus = (typeof accountStatuses)[number];
/** One of the documented statuses of an Account, or a new one that this version does not know. */
type AccountStatus = OpenEnum<KnownAccountStatus>;
/** Response to the creation of an Account: fewer fields than an {@link Account}. */
interface AccountCreated {
    /** Starts with `acc_`. */
    id: AccountId;
    /** The Entity that owns the Account. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: AccountType;
    /** The chain that the Account is provisioned on. */
    chain: Chain;
    /** A new Account is `active`. */
    status: AccountStatus;
    /** Whether the Account earns yield on idle balances; set from the Settings at creation. */
    autoEarn: boolean;
    /** A decimal string; its unit and precision are not documented. */
    availableBalance: string;
    /** `USDC` unless the platform says otherwise. */
    currency: string;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A wallet or bank account that belongs to an Entity and holds balances in one currency. */
interface Account extends AccountCreated {
    /** A decimal string. */
    pendingBalance: string;
    /** A decimal string. */
    lockedBalance: string;
    /** A decimal string. */
    holdingBalance: string;
    /** Free-form data of yours; absent or null when there is none. */
    metadata?: Metadata | null | undefined;
    /** ISO 8601 date-time, UTC. */
    updatedAt: string;
}
/** Input for creating an Account, which is provisioned on the default chain of the Settings. */
interface AccountCreateInput {
    /** The Entity that will own the Account. */
    entityId: IdFrom<'entityId(text) or as const'>;
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. */
    metadata?: Metadata | undefined;
}
/** The fields of an Account to change; omitted fields stay unchanged. */
interface AccountUpdateInput {
    /** Display name. */
    name?: string | undefined;
    /** Free-form data of yours. Whether the platform merges or replaces it is not documented. */
    metadata?: Metadata | undefined;
}

/** The id of a Counterparty; `counterpartyId(text)` makes one of a `string`. */
type CounterpartyId = `cpty_${string}`;
declare const counterpartyTypes: readonly ["wallet", "bank_account"];
/** The documented types of a Counterparty. @useDeclaredType */
type KnownCounterpartyType = (typeof counterpartyTypes)[number];
/** One of the documented types of a Counterparty, or a new one that this version does not know. */
type CounterpartyType = OpenEnum<KnownCounterpartyType>;
/** An external wallet or bank account that can receive transfers. */
interface Counterparty {
    /** Starts with `cpty_`. */
    id: CounterpartyId;
    /** The Entity that the Counterparty belongs to. */
    entityId: EntityId;
    /** Display name. */
    name: string;
    /** A wallet or a bank account. */
    type: CounterpartyType;
    /** For bank accounts. */
    bankName?: string | null | undefined;
    /** For bank accounts; masked, only the trailing digits are visible. */
    accountNumber?: string | null | undefined;
    /** For bank accounts. */
    routingNumber?: string | null | undefined;
    /** For wallets. */
    walletAddress?: string | null | undefined;
    /** For wallets. */
    chain?: Chain | null | undefined;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}

/** The id of an IBAN (not the IBAN itself); `ibanId(text)` makes one of a `string`. */
type IbanId = `iban_${string}`;
declare const ibanStatuses: readonly ["active", "inactive"];
/** The documented statuses of an IBAN. @useDeclaredType */
type KnownIbanStatus = (typeof ibanStatuses)[number];
/** One of the documented statuses of an IBAN, or a new one that this version does not know. */
type IbanStatus = OpenEnum<KnownIbanStatus>;
/** A fiat bank identifier, linked to an Account and an Entity, that accepts deposits. */
interface Iban {
    /** Starts with `iban_`. */
    id: IbanId;
    /** The Entity that the IBAN belongs to. */
    entityId: EntityId;
    /** The Account that deposits reach. */
    accountId: AccountId;
    /** The bank identifier itself. */
    iban: string;
    /** The bank's identifier code. */
    bic: string;
    /** The bank's name. */
    bankName: string;
    /** The fiat currency that the IBAN accepts. */
    currency: string;
    /** Deposits to an IBAN that was deleted are rejected. */
    status: IbanStatus;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}

declare const executionStatuses: readonly ["Deactivated"];
/** The one documented execution status; others exist. @useDeclaredType */
type KnownExecutionStatus = (typeof executionStatuses)[number];
/** `Deactivated`, or one that the API reference does not name. */
type ExecutionStatus = OpenEnum<KnownExecutionStatus>;
/** How often an Instruction has run, and when it last did. */
interface ExecutionState {
    /** Starts at 0. */
    executionCounter: Integer;
    /** `Deactivated` is the one documented value. */
    executionStatus: ExecutionStatus;
    /** When it last ran; the unit is not documented. */
    lastExecuted: Integer;
}
/** An on-chain automation instruction of an address. */
interface Instruction {
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
    /** How often it has run. */
    executionState: ExecutionState;
    /** Address of the token. */
    instructedTokenAddress: Hex;
    /** Identifies the Instruction. */
    instructionId: Hex;
    /** A whole number as a string. */
    lastInstructedValue: string;
    /** How often it may run. */
    maxExecutions: Integer;
    /** A name for people. */
    nickname: string;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** A whole number as a string. */
    totalInstructedValue: string;
}
/** An instruction payload, built by the platform and not yet on chain. */
interface BuiltInstruction {
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** Address of the action. */
    action: Hex;
    /** The encoded arguments of the action. */
    arguments: Hex;
}
/** What the executor of a refuel may charge and spend. */
interface RefuelERC20Fee {
    /** Address of the token that the fee is paid in. */
    token: Hex;
    /** Upper bound of the base fee, per unit of gas. */
    maxBaseFeePerGas: Integer;
    /** Upper bound of the priority fee, per unit of gas. */
    maxPriorityFeePerGas: Integer;
    /** What one execution costs. */
    executionFee: Integer;
}
/** Arguments of the action `refuelERC20`. Their units are not documented. */
interface RefuelERC20Arguments {
    /** Address of the token to refuel with. */
    token: Hex;
    /** Address that is refuelled. */
    target: Hex;
    /** The balance that triggers a refuel. */
    threshold: Integer;
    /** The balance after a refuel. */
    endBalance: Integer;
    /** What the executor may charge and spend. */
    fee: RefuelERC20Fee;
}
/** Arguments keyed by action kind. `refuelERC20` is checked; any other kind passes through as given. */
interface ActionArguments {
    /** Refills a token balance whenever it falls below a threshold. */
    refuelERC20?: RefuelERC20Arguments | undefined;
    [kind: string]: unknown;
}
/** Input for building an instruction payload. All of it is required. */
interface InstructionBuildInput {
    /** The address that the Instruction is for. */
    address: Hex;
    /** The chain's number, such as 8453. */
    chainId: Integer;
    /** Makes otherwise equal Instructions distinct. */
    salt: Integer;
    /** How often it may run. */
    maxExecutions: Integer;
    /** What to do. */
    actionArguments: ActionArguments;
}

declare const transactionStatuses: readonly ["Success"];
/** The one documented transaction status; others exist. @useDeclaredType */
type KnownTransactionStatus = (typeof transactionStatuses)[number];
/** `Success`, or one that the API reference does not name. */
type TransactionStatus = OpenEnum<KnownTransactionStatus>;
/** One on-chain transaction of an Instruction. */
interface Transaction {
    /** Unix seconds. */
    createdAtUnix: Integer;
    /** Unix seconds. */
    updatedAtUnix: Integer;
    /** Unix seconds. */
    startedAtUnix: Integer;
    /** Unix seconds. */
    finishedAtUnix: Integer;
    /** Block number. */
    startedAtBlock: Integer;
    /** Block number. */
    finishedAtBlock: Integer;
    /** Identifies the transaction on its chain. */
    transactionHash: Hex;
    /** The block that holds it. */
    blockHash: Hex;
    /** The Instruction that it belongs to. */
    instructionId: Hex;
    /** The chain's number. */
    chainId: Integer;
    /** The address that the Instruction belongs to. */
    address: Hex;
    /** Whether it activated the Instruction. */
    activation: boolean;
    /** Whether it deactivated the Instruction. */
    deactivation: boolean;
    /** `Success` is the one documented value. */
    transactionStatus: TransactionStatus;
}

/** The id of a Transfer; `transferId(text)` makes one of a `string`. */
type TransferId = `txfr_${string}`;
declare const transferTypes: readonly ["book", "wire", "on_chain"];
/** The documented types of a Transfer. @useDeclaredType */
type KnownTransferType = (typeof transferTypes)[number];
/** One of the documented types of a Transfer, or a new one that this version does not know. */
type TransferType = OpenEnum<KnownTransferType>;
declare const transferStatuses: readonly ["pending", "processing", "completed", "failed", "cancelled"];
/** The documented statuses of a Transfer. @useDeclaredType */
type KnownTransferStatus = (typeof transferStatuses)[number];
/** One of the documented statuses of a Transfer, or a new one that this version does not know. */
type TransferStatus = OpenEnum<KnownTransferStatus>;
declare const transferDirections: readonly ["outgoing", "incoming"];
/** The documented directions of a Transfer. @useDeclaredType */
type KnownTransferDirection = (typeof transferDirections)[number];
/** One of the documented directions of a Transfer, or a new one that this version does not know. */
type TransferDirection = OpenEnum<KnownTransferDirection>;
/**
 * Response to the creation of a Transfer: fewer fields than a {@link Transfer}.
 */
interface TransferCreated {
    /** Starts with `txfr_`. */
    id: TransferId;
    /** An accepted Transfer is `pending`. */
    status: TransferStatus;
    /** `book` between Accounts of the Platform; `wire` or `on_chain` to a Counterparty. */
    type: TransferType;
    /** ISO 8601 date-time, UTC. */
    createdAt: string;
}
/** A movement of funds from an Account to another Account or to a Counterparty. */
interface Transfer extends TransferCreated {
    /** The Account that the money leaves. */
    sourceAccountId: AccountId;
    /** The Account that the money reaches; present for book transfers. */
    destinationAccountId?: AccountId | null | undefined;
    /** The Counterparty that the money reaches; present for transfers that leave the Platform. */
    counterpartyId?: CounterpartyId | null | undefined;
    /** A decimal string. */
    amount: string;
    /** `USDC` unless the creation named another. */
    currency: string;
    /** `outgoing` or `incoming`. */
    direction: TransferDirection;
    /** The description that was given at creation. */
    description?: string | null | undefined;
}
/**
 * Money to send: from an Account to one destination, `destinationAccountId` or `counterpartyId`. Keep
 * one in a variable with `as const` or `satisfies TransferCreateInput`.
 */
type TransferCreateInput = {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** Another Account of the Platform; then no `counterpartyId`. */
    destinationAccountId: OneDestination<'accountId(text) or as const'>;
    counterpartyId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
} | {
    /** The Account that the money leaves. */
    sourceAccountId: IdFrom<'accountId(text) or as const'>;
    /** Exact decimal string above zero, such as `'12.50'`; a number cannot hold every decimal. */
    amount: string;
    /** An external wallet or bank account; then no `destinationAccountId`. */
    counterpartyId: OneDestination<'counterpartyId(text) or as const'>;
    destinationAccountId?: undefined;
    /** Default: not sent; the platform takes `USDC`. */
    currency?: string | undefined;
    /** Your own unique reference, by which `reconcile` finds the Transfer. */
    description?: string | undefined;
};

/**
 * Where the sandbox takes the time from: a function, or an object such as `Date`. With `setTimeout`
 * the object also decides how long a `delay` fault takes.
 */
type SandboxClock = (() => number | Date) | {
    /** The present moment. */
    now(): number | Date;
    /** Calls back once, after so many milliseconds. */
    setTimeout?(run: () => void, ms: number): unknown;
    /** Takes back what `setTimeout` has returned. */
    clearTimeout?(timer: unknown): void;
};
/** The sandbox's own view of its {@link SandboxClock}. */
declare class Clock {
    #private;
    /** How far this clock was set on from its source. */
    offset: number;
    constructor(source?: SandboxClock);
    /** The present moment. */
    now(): Date;
    /** The present moment as an ISO 8601 date-time in UTC. */
    iso(): string;
    /** Waits; rejects with the signal's reason as soon as it aborts. */
    wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
    /** Calls back once, unless it is taken back; keeps no process alive. */
    later(run: () => void, ms: number): () => void;
}

/** What is numbered. */
declare const none: {
    entities: number;
    accounts: number;
    transfers: number;
    counterparties: number;
    ibans: number;
    requests: number;
    log: number;
};
type IdName = keyof typeof none;
/** The last number that was given to each. */
type IdCounts = Readonly<Record<IdName, number>>;
/**
 * Numbers that only ever grow: an id that somebody was told must never mean something else, whatever
 * was reset, brought in or lost meanwhile.
 */
declare class Ids {
    #private;
    /** Called before a number is given. Whoever keeps the state of a process has to know beforehand. */
    reserve: (name: IdName, number: number) => void;
    next(name: IdName): number;
    get counts(): IdCounts;
    /** Goes on after these numbers, unless it is further already. */
    atLeast(counts: Readonly<Record<string, number | undefined>>): void;
}

/**
 * What moves by itself, and when: each thing once, so many milliseconds after it last moved. Steps
 * that are due are taken by a timer and by whoever calls `run` before it looks, so that a clock which
 * was set on, or a timer that is late, makes no difference to what anybody sees.
 */
declare class Schedule {
    #private;
    /** Takes the next step of the thing with this id. */
    step: (id: string) => void;
    constructor(clock: Clock, interval: number | undefined);
    /** Something has moved, and is to move again. */
    count(id: string): void;
    /** Something has come to its end. */
    forget(id: string): void;
    clear(): void;
    /** Takes every step that is due; more than one of the same thing if much time has passed. */
    run(): void;
    /** The clock was set: what is left of each wait has changed. */
    clockMoved(): void;
}

/** An Account with its balances as exact units; see money.ts. */
interface AccountRow {
    readonly id: AccountId;
    readonly entityId: EntityId;
    readonly type: KnownAccountType;
    readonly chain: Chain;
    readonly currency: string;
    readonly autoEarn: boolean;
    readonly createdAt: string;
    name: string;
    status: KnownAccountStatus;
    metadata: Metadata;
    updatedAt: string;
    available: bigint;
    pending: bigint;
    locked: bigint;
}
/** A Transfer whose status can change. */
interface TransferRow extends Transfer {
    status: KnownTransferStatus;
}
/** An Instruction, and whose it is. */
interface InstructionRow {
    readonly address: Hex;
    readonly chainId: Integer;
    instruction: Instruction;
}
/** Everything that a Platform remembers. The rules are in the file of each noun. */
declare class Platform {
    readonly clock: Clock;
    /** Items a page when a request names no `limit`. */
    readonly pageSize: number;
    readonly ids: Ids;
    /** What moves by itself; see life.ts. */
    readonly schedule: Schedule;
    readonly entities: Table<"ent_", Entity>;
    readonly accounts: Table<"acc_", AccountRow>;
    readonly transfers: Table<"txfr_", TransferRow>;
    readonly counterparties: Table<"cpty_", Counterparty>;
    readonly ibans: Table<"iban_", Iban>;
    /** IBANs that were deleted: a deposit has to be told apart from one to a stranger's IBAN. */
    readonly closedIbans: Map<string, Iban>;
    readonly instructions: Map<string, InstructionRow>;
    transactions: Transaction[];
    settings: Settings;
    /** Called after something may have changed that is to outlive the object. */
    changed: () => void;
    constructor(clock: SandboxClock | undefined, pageSize: number, autoAdvance?: number);
}

/** The operations of the API, by the names that faults and the log use. */
type SandboxOperation = 'entities.create' | 'entities.list' | 'entities.get' | 'accounts.create' | 'accounts.list' | 'accounts.get' | 'accounts.update' | 'transfers.create' | 'transfers.list' | 'transfers.get' | 'counterparties.list' | 'counterparties.get' | 'counterparties.delete' | 'ibans.list' | 'ibans.get' | 'ibans.delete' | 'settings.update' | 'instructions.build' | 'instructions.list' | 'transactions.list';

/** Whether a fault strikes before the platform did what was asked, or after. */
type SandboxFaultMoment = 'before_commit' | 'after_commit';
/** A fault to simulate. */
type SandboxFault = {
    /** An error status with the documented error body, or another status for a true answer. */
    kind: 'status';
    /** 200 to 599. Below 400 a committed call keeps its own body. */
    status: number;
    /** The Retry-After header: seconds, or a text that is sent as it is. */
    retryAfter?: number | string | undefined;
    /** Further headers, such as the `location` of a redirect. */
    headers?: Record<string, string> | undefined;
    /** The `code` of the error body. @default 'injected_fault' */
    code?: string | undefined;
    /** The message. Default: a sentence that names the status. */
    error?: string | undefined;
    /** Default: `before_commit` for 300 and above, otherwise `after_commit`. */
    when?: SandboxFaultMoment | undefined;
} | {
    /** The call takes effect on arrival; its answer comes `ms` milliseconds later. */
    kind: 'delay';
    /** How long, by the clock of the sandbox. */
    ms: number;
} | {
    /** No answer ever; the caller has to give up. */
    kind: 'hang';
    /** Whether the call takes effect first. @default 'before_commit' */
    when?: SandboxFaultMoment | undefined;
} | {
    /** The connection is reset. */
    kind: 'reset';
    /** Whether the call took effect first. */
    when: SandboxFaultMoment;
} | {
    /** An HTML page in place of JSON, as proxies send them. */
    kind: 'html';
    /** 200 to 599. @default 502 */
    status?: number | undefined;
    /** Whether the call takes effect first. @default 'before_commit' */
    when?: SandboxFaultMoment | undefined;
} | {
    /** The headers and half of the body, then the connection ends. */
    kind: 'truncated_body';
    /** Whether the call takes effect first. @default 'after_commit' */
    when?: SandboxFaultMoment | undefined;
} | {
    /** The headers and half of the body, then nothing more. */
    kind: 'stalled_body';
    /** Whether the call takes effect first. @default 'after_commit' */
    when?: SandboxFaultMoment | undefined;
} | {
    /**
     * A page whose `nextCursor` is the cursor it was asked for. A first page, which is asked for
     * without one, leads to such a page and does not use the fault up.
     */
    kind: 'repeated_cursor';
} | {
    /** A page without items that says there are more; its cursor goes on where it should. */
    kind: 'empty_page';
};
/** A fault and the requests it applies to. */
interface SandboxFaultRule {
    /** Such as `'transfers.create'`; `'*'` is every request, even to a path that does not exist. */
    operation: SandboxOperation | '*';
    /** How many requests are affected; `'always'` (or `Infinity`) for all. @default 1, with `percent` all */
    times?: number | 'always' | undefined;
    /** How many matching requests to let through first. @default 0 */
    after?: number | undefined;
    /** How many of a hundred matching requests are affected, by chance. @default 100 */
    percent?: number | undefined;
    /** A whole number that chance begins with: the same one strikes the same requests. @default 1 */
    seed?: number | undefined;
    /** What happens to them. */
    fault: SandboxFault;
}

/** The faults that a sandbox is told to show. */
interface SandboxFaults {
    /**
     * Adds a rule. At most one rule applies to a request: the oldest that matches and is not used up.
     * @throws TypeError for a rule that could never apply, such as an empty page of a create call.
     *
     * @example
     * ```ts
     * import { Sandbox } from 'payments-platform-sdk/sandbox';
     *
     * const sandbox = new Sandbox();
     * sandbox.faults.add({
     *   operation: 'transfers.create',
     *   fault: { kind: 'reset', when: 'after_commit' },
     * });
     * ```
     */
    add(rule: SandboxFaultRule): void;
    /** The rules that are not used up, oldest first: `times` and `after` say how much is left. */
    list(): SandboxFaultRule[];
    /** Forgets every rule. */
    clear(): void;
}

/** One request as it arrived: no headers, and `[redacted]` in place of any credential. */
interface SandboxLogEntry {
    /** Counts on in the order in which requests come to their ends; undefined before that. */
    readonly id: number | undefined;
    /** When it arrived: ISO 8601 date-time, UTC, by the clock of the sandbox. */
    readonly time: string;
    /** The HTTP method. */
    readonly method: string;
    /** The path with whatever prefix it came with, without the query. */
    readonly path: string;
    /** The query parameters; of one that was given twice, the last. */
    readonly query: Readonly<Record<string, string>>;
    /**
     * The JSON value that arrived, or its text when it is not JSON; the beginning of the text when it
     * is longer than 64 KiB; undefined when there was none.
     */
    readonly body: unknown;
    /** Undefined when the path and method belong to no operation. */
    readonly operation: SandboxOperation | undefined;
    /** The status of the answer; undefined before it is sent, and when a fault kept it away. */
    readonly status: number | undefined;
    /** How long the answer took, in milliseconds; undefined before the end. */
    readonly ms: number | undefined;
    /** The `x-request-id` of the answer. */
    readonly requestId: string;
    /** The kind of the fault that was applied. */
    readonly fault: SandboxFault['kind'] | undefined;
}

/** Everything that a Platform remembers, as JSON. */
interface SandboxRecords {
    /** Of this form. A later form will have another number. */
    version: 1;
    /** Every Entity. */
    entities: Entity[];
    /** Every Account; what is locked and pending follows from the open Transfers. */
    accounts: Account[];
    /** Every Transfer. */
    transfers: Transfer[];
    /** Every Counterparty that was not deleted. */
    counterparties: Counterparty[];
    /** Every IBAN that was not deleted. */
    ibans: Iban[];
    /** IBANs that were deleted: deposits to them are refused. */
    closedIbans: Iban[];
    /** Every Instruction, and whose it is. */
    instructions: {
        /** The address that it belongs to. */
        address: Hex;
        /** The chain's number. */
        chainId: Integer;
        /** The Instruction as the list answers it. */
        instruction: Instruction;
    }[];
    /** Every transaction record, oldest first. */
    transactions: Transaction[];
    /** The Settings. Default: those of a new Platform. */
    settings?: Settings | undefined;
    /** How far the clock was set on, in milliseconds. */
    clockOffsetMs: number;
    /** The last number that an id was given, by noun. */
    ids: Readonly<Record<string, number | undefined>>;
}

/** Everything that a sandbox remembers but its log, as JSON; see `sandbox.exportState`. */
interface SandboxState extends SandboxRecords {
    /** The rules of `sandbox.faults` that are not used up, without those that strike by chance. */
    faults: SandboxFaultRule[];
}

/** What it takes to create an Account in the sandbox: more than the API offers. */
interface SandboxAccountInput extends AccountCreateInput {
    /** A wallet or a bank account. @default 'wallet' */
    type?: KnownAccountType | undefined;
    /** What its balances are in. @default 'USDC' */
    currency?: string | undefined;
    /** The chain that it is provisioned on. @default the `defaultChain` of the Settings */
    chain?: string | undefined;
}
/** What `sandbox.accounts.update` sets; a field that is absent stays as it is. */
interface SandboxAccountUpdate extends AccountUpdateInput {
    /** No new transfer leaves or reaches an inactive Account; deposits and `fund` still do. */
    status?: KnownAccountStatus | undefined;
}
/** The Accounts of a sandbox, and what only the platform itself can do with them. */
declare class SandboxAccounts {
    #private;
    constructor(platform: Platform);
    /**
     * Creates an Account, as POST /accounts does, and lets you choose type, currency and chain too.
     * @throws SandboxError when the Entity does not exist or a field is malformed.
     */
    create(input: SandboxAccountInput): Account;
    /** One Account with its balances. @throws SandboxError when it does not exist. */
    get(id: string): Account;
    /** Every Account, oldest first. */
    list(): Account[];
    /**
     * Puts money into an Account from outside: its available balance grows.
     * @param amount a decimal string in the Account's currency, such as `'100.00'`.
     * @throws SandboxError when the Account does not exist or the amount is no decimal above zero.
     */
    fund(id: string, amount: string): Account;
    /**
     * Changes name, metadata or status. Only the sandbox can change the status.
     * @throws SandboxError when the Account does not exist or a field is malformed.
     *
     * @example
     * ```ts
     * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
     *
     * const sandbox = seedDemo(new Sandbox());
     * sandbox.accounts.update('acc_000001', { status: 'inactive' });
     * ```
     */
    update(id: string, patch: SandboxAccountUpdate): Account;
}

/**
 * What it takes to create a Counterparty in the sandbox; the API offers no call for it. A field of
 * null counts as left out, so that a Counterparty that was read can be created again.
 */
interface SandboxCounterpartyInput {
    /** The Entity that the Counterparty belongs to. */
    entityId: EntityId;
    /** Display name. @default 'Counterparty' */
    name?: string | undefined;
    /** Default: `bank_account` if a field of one is given, otherwise `wallet`. */
    type?: KnownCounterpartyType | undefined;
    /** For wallets. Default: an address made up by the sandbox. */
    walletAddress?: string | null | undefined;
    /** For wallets. Default: the `defaultChain` of the Settings. */
    chain?: string | null | undefined;
    /** For bank accounts: the bank's name. @default 'Sandbox Bank' */
    bankName?: string | null | undefined;
    /** For bank accounts; every answer shows it masked. Default: made up by the sandbox. */
    accountNumber?: string | null | undefined;
    /** For bank accounts. Default: made up by the sandbox. */
    routingNumber?: string | null | undefined;
}
/** The Counterparties of a sandbox, and the call that the API lacks: creating one. */
declare class SandboxCounterparties {
    #private;
    constructor(platform: Platform);
    /**
     * Creates a Counterparty. What you leave out is made up, the same way in every run.
     * @throws SandboxError when the Entity does not exist, or a field is malformed or of the other type.
     *
     * @example
     * ```ts
     * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
     *
     * const sandbox = seedDemo(new Sandbox());
     * const wallet = sandbox.counterparties.create({ entityId: 'ent_000001', type: 'wallet' });
     * console.log(wallet.walletAddress);
     * ```
     */
    create(input: SandboxCounterpartyInput): Counterparty;
    /** One Counterparty. @throws SandboxError when it does not exist or was deleted. */
    get(id: string): Counterparty;
    /** Every Counterparty that was not deleted, oldest first. */
    list(): Counterparty[];
    /**
     * Deletes a Counterparty, as DELETE /counterparties/{id} does: pending transfers to it fail, and
     * their money is available at its source again.
     * @throws SandboxError when it does not exist or was deleted.
     */
    delete(id: string): void;
}

/** What `sandbox.entities.update` sets; a field that is absent stays as it is. */
interface SandboxEntityUpdate {
    /** Whether the Entity is active. */
    status?: KnownEntityStatus | undefined;
    /** Where identity verification stands. */
    kycStatus?: KnownKycStatus | undefined;
    /** Where acceptance of the terms of service stands. */
    tosStatus?: KnownTosStatus | undefined;
}
/** The Entities of a sandbox, and what only the platform itself can do with them. */
declare class SandboxEntities {
    #private;
    constructor(platform: Platform);
    /**
     * Creates an Entity, as POST /entities does.
     * @throws SandboxError when a field is missing or malformed.
     */
    create(input: EntityCreateInput): Entity;
    /** One Entity. @throws SandboxError when it does not exist. */
    get(id: string): Entity;
    /** Every Entity, oldest first. */
    list(): Entity[];
    /**
     * Completes verification: the KYC status and the terms of service become `approved`.
     * @throws SandboxError when the Entity does not exist.
     */
    approve(id: string): Entity;
    /**
     * Lets identity verification fail: the KYC status becomes `rejected`.
     * @throws SandboxError when the Entity does not exist.
     */
    reject(id: string): Entity;
    /**
     * Sets single statuses. The document gives no transitions, so any is allowed.
     * @throws SandboxError when the Entity does not exist or a status is not a documented one.
     *
     * @example
     * ```ts
     * import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
     *
     * const sandbox = seedDemo(new Sandbox());
     * sandbox.entities.update('ent_000001', { kycStatus: 'under_review' });
     * ```
     */
    update(id: string, patch: SandboxEntityUpdate): Entity;
}

/** What it takes to create an IBAN in the sandbox; the API offers no call for it. */
interface SandboxIbanInput {
    /** The Account that deposits reach. */
    accountId: AccountId;
    /** Default: the Entity that owns the Account; any other is refused. */
    entityId?: EntityId | undefined;
    /** Default: a German IBAN with right check digits, of a bank that does not exist. */
    iban?: string | undefined;
    /** The bank's identifier code. @default 'SANDDEFFXXX' */
    bic?: string | undefined;
    /** The bank's name. @default 'Sandbox Bank' */
    bankName?: string | undefined;
    /** The fiat currency that it accepts. @default 'EUR' */
    currency?: string | undefined;
}
/** The IBANs of a sandbox, and the calls that the API lacks: creating one, and depositing to it. */
declare class SandboxIbans {
    #private;
    constructor(platform: Platform);
    /**
     * Creates an IBAN for an Account. What you leave out is made up, the same way in every run.
     * @throws SandboxError when the Account does not exist, or `sandbox.entities.approve` was not called.
     */
    create(input: SandboxIbanInput): Iban;
    /** One IBAN. @throws SandboxError when it does not exist or was deleted. */
    get(id: string): Iban;
    /** Every IBAN that was not deleted, oldest first. */
    list(): Iban[];
    /**
     * Deletes an IBAN, as DELETE /ibans/{id} does: later deposits to it are rejected.
     * @throws SandboxError when it does not exist or was deleted.
     */
    delete(id: string): void;
    /**
     * Lets a deposit arrive: the available balance of the Account grows by the same number.
     * @param amount a decimal string, such as `'100.00'`.
     * @throws SandboxError when the IBAN does not exist, or the amount is no decimal above zero.
     */
    deposit(id: string, amount: string): Account;
}

/** @inline */
interface Registration {
    /** The address that the Instruction belongs to. */
    address: Hex;
    /** A name for people. @default '' */
    nickname?: string | undefined;
}
/** An Instruction to register, as it was given to POST /instruction/build. */
interface SandboxInstructionFromInput extends InstructionBuildInput, Registration {
}
/** An Instruction to register, as POST /instruction/build answered it. */
interface SandboxInstructionFromBuilt extends BuiltInstruction, Registration {
    /** The chain's number. @default 8453 */
    chainId?: Integer | undefined;
}
/** What it takes to register an Instruction in the sandbox; the API offers no call for it. */
type SandboxInstructionInput = SandboxInstructionFromInput | SandboxInstructionFromBuilt;
/** What `sandbox.instructions.execute` may be told. */
interface SandboxExecution {
    /** How much was instructed, a whole number in the token's smallest unit. @default 0 */
    value?: Integer | string | undefined;
    /** The transaction's status. @default 'Success' */
    status?: string | undefined;
}
/** The Instructions of a sandbox, and what happens to them on chain rather than through the API. */
declare class SandboxInstructions {
    #private;
    constructor(platform: Platform);
    /**
     * Registers an Instruction on chain, with the transaction that activates it: what POST
     * /instruction/build takes or answers, plus the address.
     * @throws SandboxError when a field is malformed, or the same Instruction is registered already.
     *
     * @example
     * ```ts
     * import { PaymentsClient } from 'payments-platform-sdk';
     * import { Sandbox } from 'payments-platform-sdk/sandbox';
     *
     * const sandbox = new Sandbox();
     * const payments = new PaymentsClient(sandbox.clientOptions);
     * const built = await payments.instructions.build({
     *   address: '0x00000000000000000000000000000000000000aa',
     *   chainId: 8453,
     *   salt: 1,
     *   maxExecutions: 10,
     *   actionArguments: { anyOtherKind: { threshold: 5 } },
     * });
     * const { instructionId } = sandbox.instructions.create({
     *   address: '0x00000000000000000000000000000000000000aa',
     *   ...built,
     * });
     * sandbox.instructions.execute(instructionId, { value: '250000' });
     * ```
     */
    create(input: SandboxInstructionInput): Instruction;
    /** One Instruction by its `instructionId`. @throws SandboxError when it does not exist. */
    get(instructionId: string): Instruction;
    /** Every Instruction of every address, oldest first. */
    list(): Instruction[];
    /**
     * Lets an Instruction run once: it counts, and a transaction is put on record.
     * @throws SandboxError when it does not exist, is deactivated, or has run `maxExecutions` times.
     */
    execute(instructionId: string, execution?: SandboxExecution): Transaction;
    /**
     * Deactivates an Instruction, with the transaction that does so.
     * @throws SandboxError when it does not exist or is deactivated already.
     */
    deactivate(instructionId: string): Instruction;
}

/** The Settings of a sandbox. The API can change them but not read them. */
declare class SandboxSettings {
    #private;
    constructor(platform: Platform);
    /** The Settings as they are. */
    get(): Settings;
    /**
     * Changes Settings, as PATCH /platform/settings does.
     * @throws SandboxError when a field is malformed, or auto-earn is enabled without a vault.
     */
    update(patch: SettingsUpdateInput): Settings;
}

/** The transaction records of a sandbox. Instructions make them; see `sandbox.instructions`. */
declare class SandboxTransactions {
    #private;
    constructor(platform: Platform);
    /** Every record of every address, oldest first. */
    list(): Transaction[];
}

/** The Transfers of a sandbox, and what only the platform itself can do with them. */
declare class SandboxTransfers {
    #private;
    constructor(platform: Platform);
    /**
     * Creates a Transfer, as POST /transfers does.
     * @throws SandboxError for every reason that the API would refuse it for.
     */
    create(input: TransferCreateInput): Transfer;
    /** One Transfer. @throws SandboxError when it does not exist. */
    get(id: string): Transfer;
    /** Every Transfer, oldest first. */
    list(): Transfer[];
    /**
     * Moves a Transfer one step on: to `processing`, then to `completed`, when the money arrives. After a
     * description of `sandbox:fail` or `sandbox:cancel` that is the end.
     * @throws SandboxError when it does not exist, or has ended already.
     */
    advance(id: string): Transfer;
    /**
     * Lets a `pending` or `processing` Transfer fail; the money is available at its source again.
     * @throws SandboxError when it does not exist, or has ended already.
     */
    fail(id: string): Transfer;
    /**
     * Cancels a Transfer that is still `pending`; the money is available at its source again.
     * @throws SandboxError when it does not exist, is `processing`, or has ended already.
     */
    cancel(id: string): Transfer;
}

/** How a {@link Sandbox} is set up. */
interface SandboxOptions {
    /** The source of all timestamps. Default: the system time. */
    clock?: SandboxClock | undefined;
    /** Page size for requests without `limit`, 1 to 100. @default 50 */
    pageSize?: number | undefined;
    /** The API key that is accepted. Default: a fixed one. */
    apiKey?: string | undefined;
    /** The JWT that is accepted. Default: a fixed one. */
    jwt?: string | undefined;
    /**
     * Milliseconds after which Transfers and the verification of Entities move one step on by
     * themselves, by the `clock`. Default: nothing moves until it is told to.
     */
    autoAdvance?: number | undefined;
    /** Milliseconds that every answer takes. @default 0 */
    latency?: number | undefined;
}
/** A request, whichever entry point has received it. */
interface SandboxRequest {
    /** The HTTP method. */
    method: string;
    /** An absolute URL. The host does not matter, nor does what precedes the path of the API. */
    url: string;
    /** Only `authorization` is looked at. */
    headers: Headers;
    /** Whether to refuse what precedes the path of the API, as a server does. @default false */
    atRoot?: boolean | undefined;
    /** Undefined or empty: none. */
    body?: string | undefined;
    /** Ends the wait of a `delay` fault. */
    signal?: AbortSignal | undefined;
}
/** What a client needs to talk to a sandbox without a network. */
interface SandboxClientOptions extends SandboxCredentials {
    /** Ends in `/v0`; a name that no network knows. */
    readonly baseUrl: string;
    /** The root of the instruction and transaction endpoints. */
    readonly rootUrl: string;
    /** {@link Sandbox.fetch} of the sandbox. */
    readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
    /** {@link Sandbox.getWithBody} of the sandbox. */
    readonly getWithBody: (input: Request | URL | string, body: string) => Promise<Response>;
}
/**
 * A Platform in memory. It starts empty, remembers what it is told, and does the same in every run:
 * ids count up (`ent_000001`), and all time comes from `clock`.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 *
 * const sandbox = new Sandbox();
 * const payments = new PaymentsClient(sandbox.clientOptions);
 * await payments.entities.create({ email: 'ada@example.com' });
 * console.log(sandbox.entities.list(), sandbox.log);
 * ```
 */
declare class Sandbox {
    #private;
    /** Individuals and businesses, and their verification. */
    readonly entities: SandboxEntities;
    /** Accounts, and the money in them. */
    readonly accounts: SandboxAccounts;
    /** Transfers, and their way to an end. */
    readonly transfers: SandboxTransfers;
    /** Counterparties, which only the sandbox can create. */
    readonly counterparties: SandboxCounterparties;
    /** IBANs, which only the sandbox can create, and deposits to them. */
    readonly ibans: SandboxIbans;
    /** The Settings, which only the sandbox can read. */
    readonly settings: SandboxSettings;
    /** Instructions, and what happens to them on chain. */
    readonly instructions: SandboxInstructions;
    /** The transactions that Instructions made. */
    readonly transactions: SandboxTransactions;
    /** Faults to simulate. */
    readonly faults: SandboxFaults;
    /** The API key that versioned endpoints accept. */
    readonly apiKey: string;
    /** The JWT that the instruction and transaction endpoints accept. */
    readonly jwt: string;
    /** Options for `new PaymentsClient(…)`: they need no network. */
    readonly clientOptions: SandboxClientOptions;
    /** @throws TypeError when an option does not exist or is out of range. */
    constructor(options?: SandboxOptions);
    /** What arrived, oldest first: the latest 10,000 requests, without headers and credentials. */
    get log(): readonly SandboxLogEntry[];
    /**
     * Calls back for every request that was answered, or that a fault has left without an answer.
     * Returns a function that ends this.
     */
    onLog(listener: (entry: SandboxLogEntry) => void): () => void;
    /**
     * Sets the clock on, and takes every step that is due by then when `autoAdvance` is on.
     * @param ms milliseconds, 0 or more.
     * @throws TypeError for anything else.
     */
    advanceClock(ms: number): void;
    /** The present moment of the clock, and how far it was set on. */
    get time(): {
        now: string;
        offsetMs: number;
    };
    /**
     * Forgets everything: records, Settings, faults, the log, and how far the clock was set on. Only
     * ids count on, so that none ever means two things.
     */
    reset(): void;
    /** Everything that the sandbox remembers but its log, as values that JSON can carry. */
    exportState(): SandboxState;
    /**
     * Takes a state in place of everything that the sandbox remembers; the log stays. Ids go on after
     * the highest that was ever given, here or there.
     * @throws SandboxError that names what is wrong and where; nothing has changed then.
     */
    importState(state: unknown): void;
    /**
     * Answers a request as `fetch` does. It is bound, so it can be passed on as a function.
     * @throws TypeError `fetch failed` for a `reset` fault; the signal's reason when it aborts.
     */
    readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
    /**
     * Answers a GET that has a body, which `fetch` cannot carry. It is bound, too.
     * @throws what {@link Sandbox.fetch} throws.
     */
    readonly getWithBody: (input: Request | URL | string, body: string) => Promise<Response>;
    /**
     * The core behind every way in (fetch, HTTP, msw): performs a request and returns what the caller
     * sees.
     * @throws the signal's reason when it aborts during a `delay` fault.
     */
    handle(request: SandboxRequest): Promise<SandboxReply>;
}

export { SandboxSettings as G, SandboxTransactions as J, SandboxTransfers as K, Sandbox as S, SandboxAccounts as d, SandboxCounterparties as g, SandboxEntities as j, SandboxIbans as r, SandboxInstructions as v };
export type { Account as A, BuiltInstruction as B, Counterparty as C, SandboxReply as D, Entity as E, SandboxRequest as F, SandboxState as H, Iban as I, Settings as L, Transfer as M, Transaction as T, Instruction as a, SandboxAccountInput as b, SandboxAccountUpdate as c, SandboxClientOptions as e, SandboxClock as f, SandboxCounterpartyInput as h, SandboxCredentials as i, SandboxEntityUpdate as k, SandboxExecution as l, SandboxFault as m, SandboxFaultMoment as n, SandboxFaultRule as o, SandboxFaults as p, SandboxIbanInput as q, SandboxInstructionFromBuilt as s, SandboxInstructionFromInput as t, SandboxInstructionInput as u, SandboxLogEntry as w, SandboxOperation as x, SandboxOptions as y, SandboxRecords as z };

// sandbox/server.d.ts
import { SandboxCredentials, Sandbox } from './index.js';

/** Where a sandbox is to listen. */
interface ListenOptions {
    /** 0 takes any free port. @default 0 */
    port?: number | undefined;
    /** The address to listen on. @default '127.0.0.1' */
    host?: string | undefined;
    /**
     * Names under which the sandbox may be called, beside `host` and those of the loopback interface: a
     * container's, for instance. Any other is refused, as a foreign page could use it.
     */
    allowHosts?: readonly string[] | undefined;
}
/** A sandbox that listens on a port. */
interface SandboxServer {
    /** URL of the versioned API; ends in `/v0`. */
    readonly baseUrl: string;
    /** The root of the instruction and transaction endpoints. */
    readonly rootUrl: string;
    /** The port that was taken. */
    readonly port: number;
    /** Options for `new PaymentsClient(…)`. */
    readonly clientOptions: SandboxCredentials & {
        /** URL of the versioned API on this server. */
        readonly baseUrl: string;
        /** The other root of this server. */
        readonly rootUrl: string;
    };
    /** Stops listening and ends every open connection at once. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}
/**
 * Puts a sandbox on a port, with faults on a real socket: a reset is a reset.
 * @throws SandboxError with the code `cannot_listen` when the port is taken or not allowed;
 *   RangeError when it is not a port at all.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 * import { listen } from 'payments-platform-sdk/sandbox/server';
 *
 * const server = await listen(new Sandbox(), { port: 0 });
 * const client = new PaymentsClient(server.clientOptions);
 * console.log((await client.accounts.list()).data.length);
 * await server.close();
 * ```
 */
declare function listen(sandbox: Sandbox, options?: ListenOptions): Promise<SandboxServer>;

export { listen };
export type { ListenOptions, SandboxServer };

// sandbox/msw.d.ts
import { HttpHandler } from 'msw';
import { Sandbox } from './index.js';

/**
 * A sandbox behind msw, which has to be installed beside this package.
 *
 * @module payments-platform-sdk/sandbox/msw
 */

/** Where the calls go that a sandbox is to answer. */
interface HandlersOptions {
    /** The URL of the versioned API that your code calls. Default: that of `sandbox.clientOptions`. */
    baseUrl?: string | undefined;
    /** The URL of the root API. Default: `baseUrl` without its last segment. */
    rootUrl?: string | undefined;
}
/**
 * Handlers for msw that let a sandbox answer all but `instructions.list` and `transactions.list`: msw takes
 * the body off every GET. For these, hand `sandbox.clientOptions` to the client.
 *
 * @example
 * ```ts
 * import { setupServer } from 'msw/node';
 * import { PaymentsClient } from 'payments-platform-sdk';
 * import { Sandbox } from 'payments-platform-sdk/sandbox';
 * import { handlers } from 'payments-platform-sdk/sandbox/msw';
 *
 * const sandbox = new Sandbox();
 * const baseUrl = 'https://api.example.com/v0';
 * const server = setupServer(...handlers(sandbox, { baseUrl }));
 * server.listen();
 * const client = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey });
 * console.log((await client.accounts.list()).data.length);
 * server.close();
 * ```
 */
declare function handlers(sandbox: Sandbox, options?: HandlersOptions): HttpHandler[];

export { handlers };
export type { HandlersOptions };
