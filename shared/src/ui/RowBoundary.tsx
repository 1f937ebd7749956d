import { Component, type Context, createContext, createRef, type ReactNode } from 'react';
import { isMovedNode } from '../contract';
import styles from './RowBoundary.module.css';

/** Receives the error of a row. `haveAllFailed`: all rows of the list failed, so that the build may be at fault. */
export type ReportRow = (cause: unknown, haveAllFailed: boolean) => void;

const KEY = Symbol.for('liaozhai.rows');
const globals = globalThis as typeof globalThis & Record<symbol, Context<ReportRow> | undefined>;

/** Provided by the host's pane. A global key shares the context, since each bundle has its own copy of the kit. */
export const RowFaults: Context<ReportRow> =
  globals[KEY] ?? createContext<ReportRow>((cause) => console.warn('a row could not be shown', cause));
globals[KEY] = RowFaults;

interface RowBoundaryProps<Item> {
  /** Data of the row. After an error, a new object is rendered again. */
  of: Item;
  children: (item: Item) => ReactNode;
  /** Element of the replacement line, as used by the list's rows. */
  as?: 'li' | 'p';
}

type RowBoundaryState = { failure: { cause: unknown } | null };

/** Error boundary of one row in a list: a failed row becomes a short line, the other rows stay. */
export class RowBoundary<Item> extends Component<RowBoundaryProps<Item>, RowBoundaryState> {
  static override contextType = RowFaults;
  declare context: ReportRow;
  override state: RowBoundaryState = { failure: null };
  private readonly line = createRef<HTMLLIElement & HTMLParagraphElement>();

  static getDerivedStateFromError(cause: unknown): RowBoundaryState {
    return { failure: { cause } };
  }

  override componentDidCatch(cause: unknown) {
    if (this.line.current) this.context(cause, !hasWorkingRow(this.line.current));
  }

  override componentDidUpdate({ of }: RowBoundaryProps<Item>) {
    if (this.state.failure && of !== this.props.of) this.setState({ failure: null });
  }

  override render() {
    const { of, children, as: Line = 'p' } = this.props;
    const { failure } = this.state;
    if (!failure) return <RowContent of={of}>{children}</RowContent>;
    // the browser altered the page: the pane remounts all of it in new nodes
    if (isMovedNode(failure.cause)) throw failure.cause;
    return (
      <Line ref={this.line} className={styles.lost} data-lost>
        这一条暂时显示不出来
      </Line>
    );
  }
}

/** Calls the function below the boundary, which does not catch its own errors. */
function RowContent<Item>({ of, children }: Pick<RowBoundaryProps<Item>, 'of' | 'children'>): ReactNode {
  return children(of);
}

/** Whether another row of the list still renders. A list of one row counts as true, since its data may be at fault. */
function hasWorkingRow(line: Element): boolean {
  const item = line.matches(':only-child') ? (line.parentElement ?? line) : line;
  const otherRows = [...(item.parentElement?.children ?? [])].filter((other) => other !== item);
  return otherRows.length === 0 || otherRows.some((other) => !other.matches('[data-lost]') && !isFailedRow(other));
}

const isFailedRow = ({ children }: Element): boolean =>
  children.length === 1 && children[0]?.matches('[data-lost]') === true;
