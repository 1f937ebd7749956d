import type { ReactNode, SVGProps } from 'react';

/** An icon as lucide-react's modules list it. */
interface IconData {
  name: string;
  node: [tag: string, attributes: Record<string, string>][];
}

interface CreatedIconProps extends SVGProps<SVGSVGElement> {
  size?: number | string;
}

declare function createIcon(icon: IconData): (props: CreatedIconProps) => ReactNode;

export { createIcon as default };
