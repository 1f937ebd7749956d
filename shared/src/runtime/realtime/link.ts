/** Why there is no connection. */
export type CloseReason =
  /** The network or the server is away, or the server has ended the connection: worth another attempt soon. */
  | 'unreachable'
  /** The server does not let this page join now; it may a little later, or with a new session. */
  | 'unauthorized'
  /** No socket will be had this way: no such address, no such app, not from this origin. */
  | 'refused';

/** What a link tells its supervisor. */
export interface LinkEvents {
  /** The socket is open; `socketId` names it to the server. */
  onOpen: (socketId: string) => void;
  onClose: (reason: CloseReason) => void;
  onJoined: () => void;
  /** Anything at all was heard. */
  onActivity: () => void;
  onEvent: (event: string, payload: unknown) => void;
}

/** A socket with one private channel. After `disconnect` it is silent until `connect`. */
export interface Link {
  connect: () => void;
  disconnect: () => void;
  join: () => void;
  /** Asks for a sign of life. */
  ping: () => void;
  /** Asks the server whether this page may still listen; closes if it may not. */
  reauthorize: () => void;
}

export type OpenLink = (userId: string, events: LinkEvents) => Link | Promise<Link>;
