import { Component, type Context, createContext, createRef, type ReactNode } from 'react';
import { isMovedNode } from '../contract';
import styles from './RowBoundary.module.css';

/** Receives what a row threw. `noneStands`: every row of its list did, so that the build may be at fault. */
export type ReportRow = (cause: unknown, noneStands: boolean) => void;

const KEY = Symbol.for('liaozhai.rows');
const globals = globalThis as typeof globalThis & Record<symbol, Context<ReportRow> | undefined>;

/** The host's pane provides it. Each bundle has its own copy of the kit, so the context is found by a global key. */
export const RowFaults: Context<ReportRow> =
  globals[KEY] ?? createContext<ReportRow>((cause) => console.warn('a row could not be shown', cause));
globals[KEY] = RowFaults;

interface RowBoundaryProps<Item> {
  /** What the row shows. After a throw, the next object is tried again. */
  of: Item;
  children: (item: Item) => ReactNode;
  /** The element of the line in the row's place: that of the list's rows. */
  as?: 'li' | 'p';
}

interface RowBoundaryState {
  thrown: { cause: unknown } | null;
}

/** One row of a list. A row that throws leaves a quiet line in its place, and the other rows stay. */
export class RowBoundary<Item> extends Component<RowBoundaryProps<Item>, RowBoundaryState> {
  static override contextType = RowFaults;
  declare context: ReportRow;
  override state: RowBoundaryState = { thrown: null };
  private readonly line = createRef<HTMLLIElement & HTMLParagraphElement>();

  static getDerivedStateFromError(cause: unknown): RowBoundaryState {
    return { thrown: { cause } };
  }

  override componentDidCatch(cause: unknown) {
    if (this.line.current) this.context(cause, !hasStanding(this.line.current));
  }

  override componentDidUpdate({ of }: RowBoundaryProps<Item>) {
    if (this.state.thrown && of !== this.props.of) this.setState({ thrown: null });
  }

  override render() {
    const { of, children, as: Line = 'p' } = this.props;
    const { thrown } = this.state;
    if (!thrown) return <Drawn of={of}>{children}</Drawn>;
    // the browser altered the page: the pane mounts all of it in clean nodes
    if (isMovedNode(thrown.cause)) throw thrown.cause;
    return (
      <Line ref={this.line} className={styles.lost} data-lost>
        这一条暂时显示不出来
      </Line>
    );
  }
}

/** Calls the function below the boundary, which does not catch its own throws. */
function Drawn<Item>({ of, children }: Pick<RowBoundaryProps<Item>, 'of' | 'children'>): ReactNode {
  return children(of);
}

/** Whether another row of the list is there. A list of one row does not tell a value's fault from a build's. */
function hasStanding(line: Element): boolean {
  const item = line.matches(':only-child') ? (line.parentElement ?? line) : line;
  const others = [...(item.parentElement?.children ?? [])].filter((other) => other !== item);
  return others.length === 0 || others.some((other) => !other.matches('[data-lost]') && !holdsLine(other));
}

const holdsLine = ({ children }: Element): boolean =>
  children.length === 1 && children[0]?.matches('[data-lost]') === true;
