//! Arguments as KLEE has them, each a symbolic object of its own, and as one string of bytes, which is how they are made
//! natively. Both directions follow `runtime/entry/take.c`, with the product's option `-exact`.

use super::shape::{flag, Kind, Shape, Signature};

/// A symbolic object: its name and its bytes.
pub type Object = (Vec<u8>, Vec<u8>);

impl Signature {
    /// The bytes of which natively the same arguments are made as of KLEE's objects, in the order in which they became
    /// symbolic; the product was run with `-exact`.
    pub fn bytes_of<'a>(&self, objects: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
        let mut taker = Taker {
            objects,
            bytes: Vec::new(),
            parts: self.parts(),
        };
        taker.fixed(&self.parameters)?;
        taker.pointers(&self.parameters)?;
        Some(taker.bytes)
    }

    /// The objects for the arguments that natively are made of these bytes, in the same order; none if a buffer or a
    /// string has more than `most` elements.
    pub fn objects_of(&self, bytes: &[u8], most: usize) -> Option<Vec<Object>> {
        let mut giver = Giver {
            bytes,
            parts: self.parts(),
            most,
            path: String::new(),
            objects: Vec::new(),
        };
        giver.fixed(&self.parameters);
        giver.pointers(&self.parameters)?;
        Some(giver.objects)
    }
}

fn fixed_size(shape: &Shape) -> usize {
    match shape.kind {
        Kind::Bool | Kind::Integer | Kind::Raw | Kind::Flags if shape.bits > 0 => {
            shape.bits.div_ceil(8) as usize
        }
        Kind::Bool | Kind::Enum => 1,
        Kind::Float => shape.size.min(8) as usize,
        Kind::Integer | Kind::Raw | Kind::Flags => shape.size as usize,
        Kind::Struct | Kind::Pointer => shape.children.iter().map(fixed_size).sum(),
        Kind::Array => shape.count as usize * shape.children.iter().map(fixed_size).sum::<usize>(),
        Kind::Buffer | Kind::String | Kind::Length | Kind::Address => 0,
    }
}

/// From objects to bytes.
struct Taker<'a, I: Iterator<Item = &'a [u8]>> {
    objects: I,
    bytes: Vec<u8>,
    /// Buffers and strings to come.
    parts: usize,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Taker<'a, I> {
    /// Takes an object of that size; nothing becomes symbolic of no bytes.
    fn object(&mut self, size: usize) -> Option<&'a [u8]> {
        if size == 0 {
            return Some(&[]);
        }
        self.objects.next().filter(|object| object.len() == size)
    }

    fn number(&mut self, size: usize) -> Option<usize> {
        let bytes = self.object(size)?;
        Some(bytes.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b)))
    }

    fn copy(&mut self, size: usize) -> Option<()> {
        let object = self.object(size)?;
        self.bytes.extend_from_slice(object);
        Some(())
    }

    fn fixed(&mut self, shape: &Shape) -> Option<()> {
        match shape.kind {
            Kind::Struct | Kind::Pointer => {
                for child in &shape.children {
                    self.fixed(child)?;
                }
                Some(())
            }
            Kind::Array => self.elements(shape.children.first()?, shape.count as usize),
            _ => self.copy(fixed_size(shape)),
        }
    }

    fn elements(&mut self, element: &Shape, count: usize) -> Option<()> {
        if is_plain(element) {
            return self.copy(count * element.size as usize);
        }
        (0..count).try_for_each(|_| self.fixed(element))
    }

    fn pointers(&mut self, shape: &Shape) -> Option<()> {
        let mut lengths = Vec::new();
        for child in &shape.children {
            match child.kind {
                Kind::Struct | Kind::Pointer => self.pointers(child)?,
                Kind::Array => (0..child.count).try_for_each(|_| self.pointers(child))?,
                Kind::String => {
                    self.parts -= 1;
                    let length = self.number(8)?;
                    self.copy(length)?;
                    if self.parts > 0 {
                        self.bytes.push(0);
                    }
                }
                Kind::Buffer => {
                    let partner = child.partner?;
                    if child.flags & flag::FOLLOWS == 0 {
                        self.parts -= 1;
                        let length = shape.children.get(partner)?;
                        let length = length.children.first().unwrap_or(length);
                        let count = self.number(length.size.min(8) as usize)?;
                        lengths.push((partner, count));
                        if self.parts > 0 {
                            self.bytes.extend_from_slice(&(count as u16).to_le_bytes());
                        }
                    }
                    let (_, count) = lengths.iter().find(|(of, _)| *of == partner)?;
                    self.elements(child.children.first()?, *count)?;
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// Whether elements of this kind become symbolic as one object.
fn is_plain(element: &Shape) -> bool {
    match element.kind {
        Kind::Integer | Kind::Raw => element.bits == 0,
        Kind::Float => element.size <= 8,
        _ => false,
    }
}

/// From bytes to objects.
struct Giver<'a> {
    bytes: &'a [u8],
    /// Buffers and strings to come.
    parts: usize,
    most: usize,
    /// What the next object is called like.
    path: String,
    objects: Vec<Object>,
}

impl Giver<'_> {
    /// Inside of what is called like this.
    fn within<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.path.len();
        if before > 0 && !name.is_empty() && !name.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(name);
        let result = work(self);
        self.path.truncate(before);
        result
    }

    /// The next bytes, and zeros behind the end.
    fn take(&mut self, size: usize) -> Vec<u8> {
        let (now, later) = self.bytes.split_at(size.min(self.bytes.len()));
        self.bytes = later;
        let mut taken = now.to_vec();
        taken.resize(size, 0);
        taken
    }

    /// Nothing becomes symbolic of no bytes.
    fn object(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.objects.push((self.path.clone().into_bytes(), bytes));
        }
    }

    fn number(&mut self, number: usize, size: usize) {
        let mut bytes = (number as u64).to_le_bytes().to_vec();
        bytes.truncate(size);
        self.object(bytes);
    }

    fn fixed(&mut self, shape: &Shape) {
        self.within(&shape.name, |giver| match shape.kind {
            Kind::Struct | Kind::Pointer => shape.children.iter().for_each(|c| giver.fixed(c)),
            Kind::Array => {
                if let Some(element) = shape.children.first() {
                    giver.elements(element, shape.count as usize);
                }
            }
            _ => {
                let bytes = giver.take(fixed_size(shape));
                giver.object(bytes);
            }
        });
    }

    fn elements(&mut self, element: &Shape, count: usize) {
        if is_plain(element) {
            let bytes = self.take(count * element.size as usize);
            self.object(bytes);
            return;
        }
        for index in 0..count {
            self.within(&format!("[{index}]"), |giver| giver.fixed(element));
        }
    }

    fn pointers(&mut self, shape: &Shape) -> Option<()> {
        self.within(&shape.name, |giver| giver.pointers_in(shape))
    }

    fn pointers_in(&mut self, shape: &Shape) -> Option<()> {
        let mut lengths = Vec::new();
        for child in &shape.children {
            match child.kind {
                Kind::Struct | Kind::Pointer => self.pointers(child)?,
                Kind::Array => self.within(&child.name, |giver| {
                    (0..child.count).try_for_each(|index| {
                        giver.within(&format!("[{index}]"), |giver| giver.pointers_in(child))
                    })
                })?,
                Kind::String => self.within(&child.name, Giver::string)?,
                Kind::Buffer => {
                    let partner = child.partner?;
                    if child.flags & flag::FOLLOWS == 0 {
                        let count = self.count(child, shape).filter(|n| *n <= self.most)?;
                        let length = shape.children.get(partner)?;
                        let size = length.children.first().unwrap_or(length).size.min(8);
                        self.within(&length.name, |giver| giver.number(count, size as usize));
                        lengths.push((partner, count));
                    }
                    let (_, count) = *lengths.iter().find(|(of, _)| *of == partner)?;
                    let element = child.children.first()?;
                    self.within(&child.name, |giver| giver.elements(element, count));
                }
                _ => {}
            }
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.parts = self.parts.saturating_sub(1);
        let end = self.bytes.iter().position(|byte| *byte == 0);
        let length = end.unwrap_or(self.bytes.len());
        if length > self.most {
            return None;
        }
        self.within("length", |giver| giver.number(length, 8));
        let text = self.take(length);
        self.object(text);
        if end.is_some() && self.parts > 0 {
            self.take(1);
        }
        Some(())
    }

    /// How many elements a buffer has.
    fn count(&mut self, buffer: &Shape, parent: &Shape) -> Option<usize> {
        let length = parent.children.get(buffer.partner?)?;
        let length = length.children.first().unwrap_or(length);
        let bits = 8 * length.size - u64::from(length.flags & flag::SIGNED != 0);
        let most = match bits {
            64.. => usize::MAX,
            bits => (1 << bits) - 1,
        };
        self.parts = self.parts.saturating_sub(1);
        let is_same =
            |other: &&Shape| other.kind == Kind::Buffer && other.partner == buffer.partner;
        let sharing = parent.children.iter().filter(is_same);
        let each: usize = sharing
            .flat_map(|b| b.children.first())
            .map(fixed_size)
            .sum();
        let wanted = match self.parts {
            0 => usize::MAX,
            _ => {
                let bytes = self.take(2);
                usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
            }
        };
        Some(wanted.min(self.bytes.len() / each.max(1)).min(most))
    }
}
