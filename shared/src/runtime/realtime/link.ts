/** What a link tells its supervisor. */
export interface LinkEvents {
  /** The socket is open; `socketId` names it to the server. */
  onOpen: (socketId: string) => void;
  /** The socket was refused, closed, or found dead. */
  onClose: () => void;
  onJoined: () => void;
  /** The subscription was refused, whatever the reason. */
  onRefused: () => void;
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
}

export type OpenLink = (userId: string, events: LinkEvents) => Link | Promise<Link>;
